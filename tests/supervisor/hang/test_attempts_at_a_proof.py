"""How often a proof is attempted: looking costs at most a small share of one CPU, and soon after is no matter."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from diagnostics.dynamic.job.cpu_shares import OURS
from diagnostics.supervisor.capture.run_folder import open_run_folder
from diagnostics.supervisor.capture.sampling import StallSamples
from diagnostics.supervisor.hang.deadlock_proof import MOST_SAVED_CPU_S, QUIET_S, DeadlockProver

COST_S = 0.15  # of the CPU, by an attempt


@pytest.fixture
def prover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeadlockProver:
    place = open_run_folder(tmp_path / "run")
    used = itertools.count(step=COST_S)  # read before and after each attempt
    monkeypatch.setattr(time, "thread_time", lambda: next(used))
    return DeadlockProver(place, StallSamples(place.record))


def attempted(prover: DeadlockProver, at_s: float, quiet_since_s: float) -> bool:
    due = prover.is_due(at_s, quiet_since_s, {})
    if due:
        assert prover.attempt({}, quiet_since_s, lambda: at_s, lambda: True) is None
    return due


def test_a_second_pause_soon_after_the_first_is_looked_into_at_once(prover: DeadlockProver) -> None:
    assert not attempted(prover, 5.0, 5.0 - QUIET_S / 2)
    assert attempted(prover, 5.0, 5.0 - QUIET_S)
    assert attempted(prover, 7.0, 7.0 - QUIET_S)


def test_many_costly_attempts_are_held_to_a_small_share_of_a_cpu(prover: DeadlockProver) -> None:
    moments = [one / 2 for one in range(10, 410)]
    made = [at_s for at_s in moments if attempted(prover, at_s, at_s - QUIET_S)]
    assert len(made) * COST_S <= MOST_SAVED_CPU_S + OURS * (moments[-1] - moments[0]) + COST_S
    assert len(made) > 20
