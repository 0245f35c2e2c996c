"""A training that is asked to stop, or killed in any phase, ends whole and soon, and its next start goes on."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from pathlib import Path

import pytest
from killed_in_phase import drill
from small_run import (
    clean_environment,
    interrupt,
    newest,
    processes_marked,
    ranks_of,
    start,
    start_from_cold,
    ups,
    wait_until,
    write_config,
    write_data,
)
from warm_python import python

from diagnostics.record import supervisor_facts
from ups.launch import claims
from ups.stopping import request

LONG = {"epochs": 100_000, "batch_size": 8}
STAGE = ("--no-preflight", "--stage", "autoencoder")


def prepared(folder: Path, **stage: int) -> Path:
    write_data(folder)
    training = {"checkpoint_every_steps": 3, "log_every_steps": 1}
    return write_config(folder, stages={"autoencoder": LONG | stage}, training=training)


def steps(folder: Path) -> list[int]:
    lines = (folder / "run/metrics.jsonl").read_text().splitlines()
    return [row["step"] for row in map(json.loads, lines) if row["kind"] == "step"]


def test_a_scheduler_that_asks_to_stop_gets_a_checkpoint_and_a_code_of_its_own(tmp_path: Path) -> None:
    config = prepared(tmp_path)
    log, mark = tmp_path / "log", f"saves-{os.getpid()}"
    process = start(["train", config, *STAGE], mark, log)
    wait_until(lambda: "autoencoder 1/" in log.read_text())
    assert interrupt(process, signal.SIGUSR1) == 75
    wait_until(lambda: not processes_marked(mark), deadline_s=10)
    saved = newest(tmp_path)
    step = int(saved.name.rpartition("-")[2])
    assert log.read_text().splitlines()[-2:] == [
        f"error: stopped by signal {signal.SIGUSR1:d} after step {step} of autoencoder: saved in {saved}",
        "  --resume goes on from there",
    ]
    more = ("--set", f"stages.autoencoder.max_steps={step + 1}")
    again = ups("train", config, *STAGE, "--resume", *more)
    assert (again.returncode, steps(tmp_path)) == (0, list(range(1, step + 2))), again.stderr


def test_the_doctor_knows_what_a_stopped_run_tells_it() -> None:
    assert (request.SAVED_EXIT, request.SAVED_PHASE) == (supervisor_facts.START_AGAIN, supervisor_facts.SAVED_PHASE)


def test_one_rank_that_is_asked_takes_all_others_with_it(tmp_path: Path) -> None:
    """Slurm's --signal reaches what it reaches; ranks agree between two steps."""
    config = prepared(tmp_path)
    log, mark = tmp_path / "log", f"one-{os.getpid()}"
    process = start(["train", config, *STAGE], mark, log)
    wait_until(lambda: "autoencoder 1/" in log.read_text())
    os.kill(ranks_of(mark)[1], signal.SIGUSR1)
    assert process.wait(timeout=30) == 75
    assert f"saved in {newest(tmp_path)}" in log.read_text()


def test_a_killed_rank_is_started_again_and_no_step_is_lost_or_made_twice(tmp_path: Path) -> None:
    config = prepared(tmp_path, max_steps=400)
    log, mark = tmp_path / "log", f"again-{os.getpid()}"
    process = start(["train", config, *STAGE, "--max-restarts", "1"], mark, log)
    wait_until(lambda: newest(tmp_path) is not None)
    os.kill(ranks_of(mark)[1], signal.SIGKILL)
    assert process.wait(timeout=60) == 0
    said = log.read_text()
    assert "rank 1 was killed by signal 9" in said
    assert ": restart 1 of 1, from autoencoder-" in said
    assert steps(tmp_path) == list(range(1, 401))


def test_after_torchrun_has_started_ranks_again_they_go_on_in_their_own_run(tmp_path: Path) -> None:
    config, program = prepared(tmp_path, max_steps=12), tmp_path / "main.py"
    program.write_text(
        "import os\n"
        "import ups.train as training\n"
        "from ups.cli import main\n"
        "step = training.Loop._step\n"
        "def dying(loop, batch):\n"
        "    if loop.position.step == 8 and os.environ['TORCHELASTIC_RESTART_COUNT'] == '0':\n"
        "        loop.saver.finish()\n"
        "        os._exit(9) if loop.world.rank else None\n"
        "    return step(loop, batch)\n"
        "training.Loop._step = dying\n"
        "main()\n"
    )
    done = python(
        "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "1",
        program, "train", config, *STAGE, env=clean_environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert steps(tmp_path) == list(range(1, 13))


def test_a_restart_is_known_by_its_launch_so_that_no_other_run_is_gone_on_with(tmp_path: Path) -> None:
    again = {"TORCHELASTIC_RESTART_COUNT": "1"}
    assert not claims.is_restart(tmp_path, again)  # nothing was claimed
    claims.write(tmp_path, {"TORCHELASTIC_RUN_ID": "mine"})
    assert claims.is_restart(tmp_path, again | {"TORCHELASTIC_RUN_ID": "mine"})
    assert not claims.is_restart(tmp_path, {"TORCHELASTIC_RUN_ID": "mine"})  # the first attempt of a second start
    assert not claims.is_restart(tmp_path, again | {"TORCHELASTIC_RUN_ID": "another"})
    assert not claims.is_restart(tmp_path, again | {"TORCHELASTIC_RUN_ID": "none"})  # torchrun's word for no id
    claims.write(tmp_path, {"TORCHELASTIC_RUN_ID": "none"})
    assert claims.is_restart(tmp_path, again | {"TORCHELASTIC_RUN_ID": "none"})  # the same parent process


@pytest.mark.parametrize(("phase", "victim"), [("checkpoint", "rank 1"), ("end", "command")])
def test_a_kill_in_any_phase_ends_all_and_leaves_nothing(tmp_path: Path, phase: str, victim: str) -> None:
    """Every phase and victim: tests/benchmarks/recovery/kill_drill.py."""
    done = drill(tmp_path, phase, victim, within_s=10, warm=True)
    assert (done.left_running, done.left_in_temporary, done.left_in_shm) == (0, (), ())
    assert done.exit_code == (-9 if victim == "command" else 137)


@pytest.mark.parametrize("victim", ["rank 1", "launcher"])
def test_loader_workers_end_with_a_rank_that_is_killed(victim: str) -> None:
    with tempfile.TemporaryDirectory(
        prefix="ups-drill-"
    ) as folder:  # a short name: sockets have at most 107 characters
        done = drill(Path(folder), "step", victim, workers=2, within_s=20, warm=True)
    assert (done.left_running, done.left_in_temporary, done.left_in_shm) == (0, (), ())


def test_ranks_that_torchrun_started_end_when_it_is_killed(tmp_path: Path) -> None:
    done = drill(tmp_path, "step", "launcher", by_torchrun=True, within_s=20)
    assert (done.left_running, done.left_in_temporary, done.left_in_shm) == (0, (), ())


def test_a_signal_to_all_processes_of_a_run_leaves_no_semaphore_of_its_workers(tmp_path: Path) -> None:
    """A terminal that closes sends SIGHUP to every process, Python's tracker of semaphores among them."""
    write_data(tmp_path)
    config = write_config(tmp_path, stages={"autoencoder": LONG}, training={"workers": 2})
    log, mark = tmp_path / "log", f"hangs-up-{os.getpid()}"
    process = start_from_cold(["train", config, *STAGE], mark, log, environ={"TMPDIR": str(tmp_path)})
    wait_until(lambda: "autoencoder 1/" in log.read_text())
    everybody = processes_marked(mark)
    held = semaphores(everybody)
    assert held
    for one in everybody:
        os.kill(one, signal.SIGHUP)
    assert process.wait(timeout=30) == 128 + signal.SIGHUP
    wait_until(lambda: not processes_marked(mark), deadline_s=20)
    assert [one for one in held if Path(one).exists()] == []
    assert list(tmp_path.glob("pymp-*")) == []


def semaphores(processes: list[int]) -> set[str]:
    """Returns the semaphores that some processes have mapped."""
    maps = (Path(f"/proc/{one}/maps").read_text().splitlines() for one in processes)
    return {line.split()[-1] for lines in maps for line in lines if "/dev/shm/sem." in line}  # noqa: S108 - only read
