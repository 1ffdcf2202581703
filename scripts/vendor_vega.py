"""Download the chart scripts of pages from npm: python scripts/vendor_vega.py.

They go to src/goodgain/reports/assets/vendor with their licences, as published, except for the interpreter:
it is published as a module and is turned into a script that extends `vega`.
"""

import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).parent.parent / "src" / "goodgain" / "reports" / "assets" / "vendor"
# Package and version: the file to copy.
PACKAGES = {
    ("vega", "6.4.0"): "build/vega.min.js",
    ("vega-lite", "6.4.3"): "build/vega-lite.min.js",
    ("vega-interpreter", "2.3.2"): "build/vega-interpreter.js",
}
IMPORT = re.compile(r"^import \{(?P<names>[^}]*)\} from 'vega-util';\n", re.MULTILINE)
EXPORT = "export { expression as expressionInterpreter };"


def main() -> None:
    """Download all files, then write them."""
    files: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for (package, version), path in PACKAGES.items():
            name = f"{package}@{version}"
            subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True)
            with tarfile.open(Path(folder) / f"{package}-{version}.tgz") as archive:
                script = _text(archive, path)
                licence = _text(archive, "LICENSE")
            if package == "vega-interpreter":
                script = as_script(script)
            script = re.sub(r"\n?//# sourceMappingURL=.*", "", script).rstrip() + "\n"
            files[Path(path).name] = f"/* {package} {version}, BSD-3-Clause */\n{script}"
            files[f"LICENSE.{package}"] = licence
    VENDOR.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (VENDOR / name).write_text(text, encoding="utf-8")


def as_script(module: str) -> str:
    """The module as a script that adds `vega.expressionInterpreter`."""
    imports = IMPORT.search(module)
    assert imports, "unexpected import in the interpreter"
    assert EXPORT in module, "unexpected export in the interpreter"
    body = IMPORT.sub("", module).replace(EXPORT, "vega.expressionInterpreter = expression;")
    names = imports["names"].strip()
    return f"(function () {{\nconst {{ {names} }} = vega;\n{body}\n}})();\n"


def _text(archive: tarfile.TarFile, path: str) -> str:
    file = archive.extractfile(f"package/{path}")
    assert file is not None
    return file.read().decode()


if __name__ == "__main__":
    main()
