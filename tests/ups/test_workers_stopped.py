"""What keeps data workers from starting or ends them: one sentence, and every other error stays as it is."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
from small_run import ups_from_cold, write_config, write_data

from ups.data import loaders
from ups.errors import ConfigError
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


def test_data_workers_start_where_tmpdir_is_too_long_for_their_sockets(tmp_path: Path) -> None:
    (long := tmp_path / ("a" * 100)).mkdir()
    write_data(tmp_path)
    stages = {"autoencoder": {"epochs": 1, "max_steps": 1, "batch_size": 8, "lr": 0.003}}
    config = write_config(tmp_path, stages=stages, training={"workers": 1})
    words = ("--no-preflight", "--no-doctor", "--nproc", "1", "--stage", "autoencoder")
    done = ups_from_cold("train", config, *words, environ={"TMPDIR": str(long)})
    assert (done.returncode, done.stdout.partition(";")[0]) == (0, "completed: 1 rank, 1 step"), done.stderr
    assert not list(long.glob("pymp-*"))


def test_where_no_folder_is_short_enough_for_sockets_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", given := "/" + "a" * 200)
    monkeypatch.setattr(loaders, "SHORT_FOLDERS", ("/no/such/folder",))
    with pytest.raises(ConfigError, match=r"over sockets, whose paths may have 107 bytes: /a+ is too long"):
        loaders._folder_of_sockets()
    assert tempfile.tempdir == given
