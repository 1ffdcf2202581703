"""The GitHub action: run `goodgain check`, write the summary, and keep one comment up to date.

Everything comes from the environment that GitHub sets and from the inputs in action.yml. A comment that
cannot be written is a warning: the verdict stands without it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

MARK = "<!-- goodgain check: {golden} -->"
LIMIT = 60_000  # GitHub refuses comments of more than 65,536 characters


def main() -> int:
    """Check, report, and exit with the check's own status."""
    golden = os.environ["GOODGAIN_GOLDEN"]
    folder = Path(os.environ.get("RUNNER_TEMP", "."))
    summary, page = folder / "goodgain-check.md", folder / "goodgain-check.html"
    result = folder / "goodgain-check.json"
    for old in (summary, page, result):
        old.unlink(missing_ok=True)
    command = [sys.executable, "-m", "goodgain", "check", golden, "--summary", str(summary)]
    command += ["--report", str(page), "--format", "json", "-o", str(result)]
    command += ["--unsure", os.environ.get("GOODGAIN_UNSURE") or "fail"]
    if os.environ.get("GOODGAIN_TARGET"):
        command += ["--target", os.environ["GOODGAIN_TARGET"]]
    command += shlex.split(os.environ.get("GOODGAIN_ARGUMENTS", ""))
    done = subprocess.run(command, check=False)
    text = summary.read_text(encoding="utf-8") if summary.exists() else _broken(done.returncode)
    verdict = (
        json.loads(result.read_text(encoding="utf-8"))["verdict"] if result.exists() else "error"
    )
    _append("GITHUB_STEP_SUMMARY", text)
    _append("GITHUB_OUTPUT", f"verdict={verdict}\npage={page if page.exists() else ''}\n")
    if os.environ.get("GOODGAIN_COMMENT", "true") == "true":
        try:
            comment(f"{MARK.format(golden=golden)}\n{text}"[:LIMIT])
        except (urllib.error.URLError, OSError, ValueError, KeyError) as error:
            print(f"::warning::goodgain check could not write its comment: {error}")
    return done.returncode


def _broken(status: int) -> str:
    return f"## ❌ Search check\n\nThe check did not run (exit status {status}); see the log of this job.\n"


def _append(variable: str, text: str) -> None:
    if os.environ.get(variable):
        with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
            file.write(text)


def comment(body: str) -> None:
    """Update the comment that carries the mark, or write the first one; outside pull requests do nothing."""
    event_path = os.environ.get("GITHUB_EVENT_PATH")
    event = json.loads(Path(event_path).read_text(encoding="utf-8")) if event_path else {}
    number = (event.get("pull_request") or {}).get("number")
    if not number:
        return
    base = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    mark = body.split("\n", 1)[0]
    page = 1
    while True:
        comments = _call("GET", f"{base}/{number}/comments?per_page=100&page={page}")
        own = next((c for c in comments if (c.get("body") or "").startswith(mark)), None)
        if own:
            _call("PATCH", f"{base}/comments/{own['id']}", {"body": body})
            return
        if len(comments) < 100:
            break
        page += 1
    _call("POST", f"{base}/{number}/comments", {"body": body})


def _call(method: str, url: str, data: object = None) -> list[dict[str, object]]:
    request = urllib.request.Request(
        url,
        method=method,
        data=None if data is None else json.dumps(data).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['GOODGAIN_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: list[dict[str, object]] = json.load(response)
    return answer


if __name__ == "__main__":
    sys.exit(main())
