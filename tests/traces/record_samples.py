"""Records the samples in `samples/` anew by running today's packages with fake models.

    python tests/traces/record_samples.py [FOLDER]

FOLDER (default: a temporary one) holds the virtual environments and node packages; it needs the network once.
Each script in `recording/` runs one framework over the same plan. The tools log every call themselves, and
that log gives the counts in `samples/manifest.json`: nothing of goodgain is involved. Where the provider searches
by itself no tool runs, and the counts are those of the body that `recording/providers.py` serves to the SDK.
"""

# ruff: noqa: E501
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).parent
RECORDING, SAMPLES = HERE / "recording", HERE / "samples"
sys.path.insert(0, str(RECORDING))

SPANS = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-common")
# environment: its packages, and the scripts that run in it with their arguments
PYTHON = {
    "langchain": (
        ("langchain", "langgraph", "openinference-instrumentation-langchain", "opentelemetry-instrumentation-langchain", *SPANS),
        [["langchain_agent.py"]],
    ),
    "llama-index": (
        ("llama-index-core", "llama-index-llms-openai", "openinference-instrumentation-llama-index", "opentelemetry-instrumentation-llamaindex", *SPANS),
        [["llama_index_agent.py", "openinference"], ["llama_index_agent.py", "openllmetry"]],
    ),
    "openai-agents": (("openai-agents",), [["openai_agents_agent.py"]]),
    "pydantic-ai": (("pydantic-ai-slim", *SPANS), [["pydantic_ai_agent.py"]]),
    "inspect-ai": (("inspect-ai", "openai"), [["inspect_ai_agent.py"]]),
    "providers": (
        ("google-genai", "cohere", "anthropic", "openai", "openinference-instrumentation-openai", *SPANS),
        [["providers.py"]],
    ),
}  # fmt: skip
# what a form of recording does not hold
LACKS = {
    "anthropic-response.json": ["user"],
    "anthropic-stream.sse": ["user"],
    "gemini-grounding.json": ["user"],
    "gemini-stream.sse": ["user"],
    "openai-agents-spans.jsonl": ["user", "answer"],
    "openai-chat-stream.sse": ["user", "answer"],
    **{f"vercel-{major}-ui-stream.sse": ["user"] for major in "567"},
}
NODE = ("5", "6", "7")  # major versions of the Vercel AI SDK


def run(*command: object, **environment: str) -> None:
    """Run a command in the folder of the scripts."""
    subprocess.run(
        [str(c) for c in command], check=True, cwd=RECORDING, env={**os.environ, **environment}
    )


def python_with(folder: Path, name: str, packages: tuple[str, ...]) -> Path:
    """The interpreter of a virtual environment that has these packages."""
    interpreter = folder / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not interpreter.exists():
        venv.create(folder / name, with_pip=True)
        run(interpreter, "-m", "pip", "install", "-q", *packages)
    return interpreter


def node_modules(folder: Path, major: str) -> Path:
    """A folder with a major version of the Vercel AI SDK installed."""
    project = folder / f"node-{major}"
    if not (project / "node_modules").exists():
        project.mkdir(parents=True)
        (project / "package.json").write_text('{"private": true}')
        packages = (
            f"ai@{major}",
            "zod@4",
            "@opentelemetry/sdk-trace-base",
            "@opentelemetry/api",
            "@opentelemetry/context-async-hooks",
        )
        subprocess.run(["npm", "install", "--silent", *packages], check=True, cwd=project)
    return project


def record(folder: Path) -> None:
    """Run everything and write the manifest."""
    import plan

    log = folder / "samples.log"
    log.unlink(missing_ok=True)
    for name, (packages, scripts) in PYTHON.items():
        interpreter = python_with(folder, name, packages)
        for script in scripts:
            run(interpreter, *script, SAMPLES_LOG=str(log))
    steps = folder / "plan.json"
    facts = {
        "pages": plan.PAGES,
        "page": plan.PAGE,
        "question": plan.QUESTION,
        "answer": plan.ANSWER,
    }
    steps.write_text(json.dumps({**facts, "steps": plan.STEPS}))
    for major in NODE:
        run("node", "vercel.mjs", node_modules(folder, major), SAMPLES, steps, SAMPLES_LOG=str(log))
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    for entry in entries:
        entry["lacks"] = LACKS.get(entry["file"], [])
    manifest = {entry.pop("file"): entry for entry in entries}
    (SAMPLES / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    print(f"{len(manifest)} samples in {SAMPLES}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        target = Path(sys.argv[1]).resolve()
        target.mkdir(parents=True, exist_ok=True)
        record(target)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            record(Path(temporary))
