"""kill -9 at any moment: every vote that was confirmed is in the store, and none is in it twice."""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest
from judging_client import rows, write_pairs

from goodgain.labels import Store
from goodgain.labels.people import read_votes
from goodgain.labels.verify import verify

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("GOODGAIN_KILLS", "4"))


class Server:
    """The command, killed after a random time and started again."""

    def __init__(self, folder):
        self.folder = folder
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "goodgain", "judge", "labels.db", "--pairs", "pairs.jsonl", "-q"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
            env={**os.environ, "XDG_STATE_HOME": str(self.folder / "state")},
        )  # fmt: skip
        self.url = self.process.stdout.readline().decode().strip()
        assert self.url, self.process.stderr.read()

    def request(self, path, posted=None):
        """The answer; a killed server is an OSError or a cut reply."""
        url = urlsplit(self.url)
        connection = http.client.HTTPConnection(url.netloc, timeout=20)
        try:
            body = None if posted is None else json.dumps(posted)
            headers = {"Content-Type": "application/json", "Origin": f"http://{url.netloc}"}
            connection.request("GET" if body is None else "POST", url.path + path, body, headers)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            return json.loads(answer.read())
        finally:
            connection.close()

    def persist(self, path, posted=None):
        """As the page does: the same request until it is answered."""
        while True:
            try:
                return self.request(path, posted)
            except (OSError, http.client.HTTPException, ValueError):
                self.process.communicate()
                self.start()

    def kill_after(self, seconds):
        threading.Timer(seconds, self.process.kill).start()


def test_no_confirmed_vote_is_lost_and_none_is_doubled(tmp_path):
    chance = random.Random(1)
    write_pairs(tmp_path / "pairs.jsonl", rows(300, 2))
    server = Server(tmp_path)
    server.persist("start", {"annotator": "ann", "role": None})
    item = server.persist("work?annotator=ann")["item"]
    confirmed, sent = [], 0
    for _ in range(KILLS):
        server.kill_after(chance.uniform(0.05, 0.4))
        alive = server.process
        while alive is server.process and item is not None:
            sent += 1
            answer = server.persist("vote", {
                "id": f"request{sent:08}", "annotator": "ann", "item": item["key"],
                "seen": item["seen"], "choice": sent % 5, "note": "", "reason": "", "seconds": 1,
            })  # fmt: skip
            confirmed.append((item["doc"], sent % 5))
            item = answer["item"]
    server.process.kill()
    server.process.communicate()
    with Store(tmp_path / "labels.db", read_only=True) as store:
        votes = read_votes(store, history=True)
    assert len(confirmed) > KILLS
    assert sorted((v.doc, v.gain) for v in votes) == sorted(confirmed)
    assert len({v.source for v in votes}) == len(votes)
    assert verify(tmp_path / "labels.db").damages == ()
