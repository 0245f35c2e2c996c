"""A signal that ends a rank's data workers: one sentence, and every other error stays as it is."""

from __future__ import annotations

import os
import signal

import pytest

from ups.stopping.request import StopRequest, WorkersStoppedError

LOST = "DataLoader worker (pid(s) 7) exited unexpectedly"


def stopped_and(message: str) -> None:
    """Raises RuntimeError(message) in a training that SIGTERM has asked to stop."""
    with StopRequest():
        os.kill(os.getpid(), signal.SIGTERM)
        raise RuntimeError(message)


def test_workers_that_the_stopping_signal_ended_are_named_as_its_consequence() -> None:
    with pytest.raises(WorkersStoppedError, match="SIGTERM ended this rank's data workers"):
        stopped_and(LOST)


def test_a_worker_that_dies_without_a_signal_stays_an_error_of_its_own() -> None:
    with pytest.raises(RuntimeError, match="exited unexpectedly"), StopRequest():
        raise RuntimeError(LOST)


def test_another_error_after_the_signal_stays_as_it_is() -> None:
    with pytest.raises(RuntimeError, match="shapes differ"):
        stopped_and("shapes differ")
