"""Ctrl-C ends every command within a second, with status 130, and leaves nothing half-written.

`python tests/cli/interrupts.py` measures all commands at many moments; `make soak` does that.
"""

from __future__ import annotations

import os
import random
import signal
import sys

import pytest
from interrupts import LEFT, LINES, SERVERS, WAITING, attempt, clean, words_of

from goodgain.cli import COMMANDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SOON = 1.0  # seconds of the processor; the clock has more on a busy machine
MOMENTS = int(os.environ.get("GOODGAIN_INTERRUPTS", "1"))


def test_every_command_has_a_line():
    assert set(LINES) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c(long_inputs, slow_server, command):
    chance = random.Random(command)
    for _ in range(MOMENTS):
        waiting = command in WAITING
        at = chance.uniform(1.5, 2.5) if waiting else chance.uniform(0.1, 1.0)
        outcome = attempt(
            long_inputs, words_of(command, slow_server.server_port), at, waiting=waiting
        )
        left = [name for name in outcome.written if name not in LEFT.get(command, ())]
        clean(long_inputs, outcome.written)
        if not outcome.was_interrupted:
            assert waiting <= (command in SERVERS), outcome  # it was faster, or ends by Ctrl-C
            continue
        # Before the first line of goodgain and after the last, the signal ends Python itself: 130 to a shell.
        assert outcome.status in (130, -signal.SIGINT), outcome
        assert outcome.processor < SOON, outcome
        assert outcome.seconds < 20, outcome
        if outcome.status == 130:
            assert "Traceback" not in outcome.errors, outcome
        if left and outcome.status == -signal.SIGINT:  # after the last: then all of it is there
            left = sorted(
                {*left}
                ^ {*attempt(long_inputs, words_of(command, slow_server.server_port), None).written}
            )
            clean(long_inputs, outcome.written)
        assert not left, outcome
