"""A server that speaks S3, with a bucket `lake`."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen


def _server():
    beside = Path(sys.executable).parent / "moto_server"
    return str(beside) if beside.exists() else shutil.which("moto_server")


@contextlib.contextmanager
def s3_server(folder):
    """The address of the bucket, and the log of the server, which is a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [_server(), "-H", "127.0.0.1", "-p", str(port)], stdout=out, stderr=out
        )
    settings = {
        "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, log.read_text()
            time.sleep(0.2)
        address = f"http://127.0.0.1:{port}/lake"
        put(address, "", b"")  # the bucket
        yield address, log
    finally:
        server.terminate()
        server.wait(20)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def put(address, key, data):
    data = data if isinstance(data, bytes) else data.encode()
    headers = {"Content-Type": "application/octet-stream"}
    request = Request(f"{address}/{quote(key)}".rstrip("/"), data, headers, method="PUT")
    with urlopen(request, timeout=30):  # signatures are not checked
        pass


def upload(address, folder, key):
    for file in folder.rglob("*"):
        if file.is_file():
            put(address, f"{key}/{file.relative_to(folder)}", file.read_bytes())
