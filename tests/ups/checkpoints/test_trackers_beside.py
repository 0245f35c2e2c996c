"""Trackers are fed by a process beside the run: every row once, the true exit code, and nothing waits for them."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from small_run import (
    clean_environment,
    interrupt,
    newest,
    processes_marked,
    ranks_of,
    start,
    ups,
    wait_until,
    write_config,
    write_data,
)

from ups.commands import track
from ups.config import UpsConfig, load_config
from ups.errors import ConfigError
from ups.run_folder import RunFolder
from ups.tracking import Record, backends, sending
from ups.tracking.beside import Beside
from ups.tracking.feed import Feed, Sent
from ups.tracking.jsonl import JsonLines
from ups.tracking.sidecar import end_file

# A package `wandb` that writes down what it is told: the real one is 200 MB, and is tested where it is installed.
WANDB = """
import json, os, time
def Settings(**known): return known
class Run:
    def __init__(self, known): self.known = known; self.say("init", {k: known[k] for k in ("id", "mode", "resume")})
    def say(self, what, value):
        with open(os.environ["TOLD"], "a") as file: file.write(json.dumps([what, value]) + "\\n")
    def define_metric(self, *names, **known): pass
    def log(self, row): self.say("log", row)
    def finish(self, exit_code): self.say("finish", exit_code)
def init(**known):
    if os.environ.get("HANGS"): time.sleep(600)
    if os.environ.get("FAILS"): raise OSError("no route to host")
    return Run(known)
"""


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """Where the package writes what it is told; the package lies beside it."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/wandb.py").write_text(WANDB)
    return tmp_path / "told"


def environ(told: Path, **more: str) -> dict[str, str]:
    return {"PYTHONPATH": str(told.parent / "site"), "TOLD": str(told), **more}


def config(folder: Path, **changes: Any) -> Path:
    write_data(folder)
    return write_config(folder, tracking={"wandb": {"mode": "offline"}, "finish_s": 5.0}, **changes)


def read(told: Path) -> list[Any]:
    return [json.loads(line) for line in told.read_text().splitlines()] if told.exists() else []


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]


def as_logged(row: dict[str, Any]) -> dict[str, Any]:
    stage = row["stage"]
    numbers = {name: value for name, value in row.items() if name not in ("kind", "stage", "step", "epoch")}
    return {f"{stage}/{name}": value for name, value in numbers.items()} | {f"{stage}/step": row["step"]}


def test_every_row_reaches_the_tracker_once_over_a_stop_and_a_resume_in_one_run(tmp_path: Path, told: Path) -> None:
    stage = ("--no-preflight", "--stage", "autoencoder")
    path = config(tmp_path, training={"log_every_steps": 1})
    first = ups("train", path, *stage, "--set", "stages.autoencoder.max_steps=3", environ=environ(told))
    assert (first.returncode, first.stderr.count("tracker")) == (0, 0), first.stderr
    again = ups("train", path, *stage, "--resume", environ=environ(told))
    assert again.returncode == 0, again.stderr
    said = read(told)
    opened = [value for what, value in said if what == "init"]
    assert [value for what, value in said if what == "log"] == [as_logged(row) for row in rows_of(tmp_path)]
    assert [value for what, value in said if what == "finish"] == [0, 0]
    assert opened == [{"id": opened[0]["id"], "mode": "offline", "resume": "allow"}] * 2


@pytest.mark.parametrize(
    ("victim", "number", "code"),
    [("rank 1", signal.SIGKILL, 137), ("command", signal.SIGKILL, 137), ("command", signal.SIGTERM, 75)],
)
def test_the_tracker_hears_the_true_end_whoever_was_killed(
    tmp_path: Path, told: Path, victim: str, number: int, code: int
) -> None:
    path = config(tmp_path, stages={"autoencoder": {"epochs": 100_000, "batch_size": 8}})
    mark = f"tracked-{victim[-1]}-{number}-{os.getpid()}"
    process = start(["train", path, "--no-preflight"], mark, tmp_path / "log", environ=environ(told))
    wait_until(lambda: [one for one in read(told) if one[0] == "log"])
    if victim == "command" and number == signal.SIGTERM:
        interrupt(process, number)
    else:
        os.kill(process.pid if victim == "command" else ranks_of(mark)[1], number)
    process.wait(timeout=30)
    wait_until(lambda: not processes_marked(mark), deadline_s=10)
    assert read(told)[-1] == ["finish", code]
    assert sum(what == "finish" for what, _ in read(told)) == 1


@pytest.mark.parametrize(
    ("trouble", "why"), [("HANGS", "it did not answer within 1 s"), ("FAILS", "OSError: no route")]
)
def test_a_tracker_that_hangs_or_fails_holds_nothing_up_and_is_sent_all_later(
    tmp_path: Path, told: Path, monkeypatch: pytest.MonkeyPatch, trouble: str, why: str
) -> None:
    """Without a training: what writes rows is this test, and the process beside it the real one."""
    run = tmp_path / "run"
    loaded = load_config(config(tmp_path), ("tracking.finish_s=1",))
    RunFolder(run).claim(loaded)
    for name, value in environ(told, **{trouble: "1"}).items():
        monkeypatch.setenv(name, value)
    (run / "tracking").mkdir()
    end_file(RunFolder(run)).write_text("75\n")  # of the start before, which was told to stop
    beside, lines = Beside(loaded), JsonLines(run / "metrics.jsonl")
    for step in (1, 2, 3):
        lines.log(row(step))
    lines.close()
    wait_until(lambda: is_fed(run) and not end_file(RunFolder(run)).exists())
    with pytest.raises(ConfigError, match=r"are fed already: its training goes on, or another `ups track sync` does"):
        track.sync.callback(run, None)  # type: ignore[misc]
    began = time.monotonic()
    (said,) = beside.finish(3)
    assert time.monotonic() - began < 8
    assert said.startswith(f"tracker wandb-offline was not sent 3 rows and the end of the run: {why}")
    assert said.endswith(f"; ups track sync {run} sends them")
    monkeypatch.delenv(trouble)
    done = subprocess.run(
        [sys.executable, "-m", "ups", "track", "sync", str(run)], capture_output=True, text=True, check=False,
        env=clean_environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "wandb-offline: 3 rows sent, 0 left\n"), done.stderr
    assert [what for what, _ in read(told)] == ["init", "log", "log", "log", "finish"]
    assert read(told)[-1] == ["finish", 3]


def is_fed(run: Path) -> bool:
    """Whether another process has the right to feed the run's trackers."""
    if not (run / "tracking/lock").exists():
        return False
    with (run / "tracking/lock").open("r+b") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def row(step: int, kind: str = "step", stage: str = "autoencoder") -> dict[str, Any]:
    return {"kind": kind, "stage": stage, "step": step, "loss": 0.5}


def test_rows_that_a_resumed_run_makes_again_are_known_by_what_they_say_not_by_their_place(tmp_path: Path) -> None:
    path, sent, taken = tmp_path / "metrics.jsonl", Sent(), list[Record]()
    feed, lines = Feed(path), JsonLines(path)

    def look() -> None:
        for one in feed.rows():
            if sent.is_new(one):
                taken.append(one)
                sent.add(one)

    for step in (1, 2, 3):
        lines.log(row(step))
    lines.log(row(3, "epoch"))
    size = len(json.dumps(row(1))) + 1
    look()
    lines.close()
    again = JsonLines(path, resume_at=size)
    for step in (2, 3, 4):
        again.log({**row(step), "longer": "than before"})
    look()
    again.log(row(1, stage="operator"))
    again.close()
    look()
    assert [(one["stage"], one["step"], one["kind"]) for one in taken] == [
        ("autoencoder", 1, "step"), ("autoencoder", 2, "step"), ("autoencoder", 3, "step"),
        ("autoencoder", 3, "epoch"), ("autoencoder", 4, "step"), ("operator", 1, "step"),
    ]  # fmt: skip


def wandb(tmp_path: Path, *more: str) -> UpsConfig:
    write_data(tmp_path)
    return load_config(write_config(tmp_path), ("tracking.wandb.mode=online", *more))


def test_a_tracker_without_a_key_or_its_package_is_refused_before_anything_is_written(
    tmp_path: Path, told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = wandb(tmp_path)
    if not backends.importlib.util.find_spec("wandb"):
        with pytest.raises(ConfigError, match="tracks with wandb, and the package is not installed"):
            backends.check(loaded)
    monkeypatch.syspath_prepend(str(told.parent / "site"))
    with pytest.raises(ConfigError, match=r"is online, and there is no key for it: neither WANDB_API_KEY nor"):
        backends.check(loaded, {"HOME": str(tmp_path)})
    backends.check(loaded, {"HOME": str(tmp_path), "WANDB_API_KEY": "k"})
    (tmp_path / ".netrc").write_text("machine api.wandb.ai login user password k\n")
    (tmp_path / ".netrc").chmod(0o600)
    backends.check(loaded, {"HOME": str(tmp_path)})
    refused = ups("train", tmp_path / "small.yaml", "--set", "tracking.wandb.mode=online", "--no-preflight",
                  environ={"HOME": str(tmp_path / "site"), "PYTHONPATH": str(tmp_path / "site")})  # fmt: skip
    assert (refused.returncode, newest(tmp_path), (tmp_path / "run").exists()) == (2, None, False)


def test_the_real_wandb_keeps_a_run_offline(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="200 MB, and no part of the tests' environment: pip install '.[wandb]'")
    sends(tmp_path, "tracking.wandb.mode=offline", "wandb-offline")
    assert [path.suffix for path in tmp_path.glob("run/tracking/wandb/wandb/offline-run-*/run-*")] == [".wandb"]


def test_the_real_mlflow_gets_rows_and_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow", reason="no part of the tests' environment: pip install '.[mlflow]'")
    from mlflow.tracking import MlflowClient

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # its store without a server is only kept for old runs
    uri = f"file://{tmp_path}/mlruns"
    sent = sends(tmp_path, f"tracking.mlflow.uri={uri}", "mlflow")
    client = MlflowClient(uri)
    assert client.get_run(sent.run_id).info.status == "FAILED"
    assert [one.value for one in client.get_metric_history(sent.run_id, "autoencoder/loss")] == [0.5, 0.5]


def sends(tmp_path: Path, override: str, name: str) -> Sent:
    write_data(tmp_path)
    loaded = load_config(write_config(tmp_path), (override,))
    folder, end = RunFolder(loaded.output.dir), sending.End()
    folder.claim(loaded)
    lines = JsonLines(folder.metrics)
    for step in (1, 2):
        lines.log(row(step))
    lines.close()
    end.set(1)
    one = sending.Sending(name, backends.named(loaded)[name], loaded, folder, end)
    assert sending.finish({name: one}, folder, 60.0) == []
    return Sent.load(sending.progress_of(folder, name))
