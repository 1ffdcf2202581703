"""Real notebooks: a Jupyter kernel and marimo run the code of docs/notebooks.md and show our HTML."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parent.parent.parent / "docs" / "notebooks.md"
CELLS = [m[1] for m in re.finditer(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The page's cells, run by a kernel of their own."""
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    folder = tmp_path_factory.mktemp("jupyter")
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    old = {
        name: os.environ.get(name)
        for name in ("JUPYTER_PLATFORM_DIRS", "PYDEVD_DISABLE_FILE_VALIDATION")
    }
    os.environ |= {"JUPYTER_PLATFORM_DIRS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    try:
        return client.execute()
    finally:
        for name, value in old.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def output(notebook, cell: int) -> dict:
    (result,) = [o for o in notebook.cells[cell].outputs if o.output_type == "execute_result"]
    return result.data


def test_jupyter_shows_results_as_tables(executed):
    html = output(executed, 0)["text/html"]
    assert html.startswith("<table>") and "bm25" in html and "dense" in html
    compared = output(executed, 1)["text/html"]
    assert "mean over queries" in compared and "<b>" in compared and "differences" in compared


def test_jupyter_shows_charts_as_pictures(executed):
    data = output(executed, 3)
    assert data["application/vnd.vegalite.v6+json"]["title"]["text"] == [
        "nDCG@10: differences from bm25"
    ]
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    svg = data["text/html"].partition("base64,")[2].partition('"')[0]
    assert ElementTree.fromstring(base64.b64decode(svg).decode()).tag.endswith("svg")
    assert not [
        o for cell in executed.cells for o in cell.get("outputs", ()) if o.output_type == "error"
    ]


def test_marimo_shows_results_and_charts(tmp_path):
    pytest.importorskip("marimo")
    (cell,) = [c for c in CELLS if "marimo.App()" in c]
    here = os.environ | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", cell], cwd=tmp_path, check=True, env=here)
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "-q", "export", "html", "app.py", "-o", "app.html"],
        cwd=tmp_path, env=here, capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "app.html").read_text()
    assert "\\u003Ctable\\u003E\\u003Cthead\\u003E" in text  # the evaluation
    (svg,) = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", text)  # the chart
    assert "AP by system" in "".join(
        ElementTree.fromstring(base64.b64decode(svg).decode()).itertext()
    )


def test_a_marimo_app_runs_as_python(tmp_path, monkeypatch):
    pytest.importorskip("marimo")
    (cell,) = [c for c in CELLS if "marimo.App()" in c]
    monkeypatch.chdir(tmp_path)
    exec(cell, {})
    code = (
        "import app; outputs, names = app.app.run(); "
        "from goodgain.reports.chart import Chart; from goodgain import Evaluation; "
        "assert any(isinstance(o, Chart) for o in outputs), outputs; "
        "assert any(isinstance(o, Evaluation) for o in outputs); "
        "assert names['result'].names == ('bm25', 'dense')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
