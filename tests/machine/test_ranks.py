"""Ranks as real processes: their true ends, their deadlines, and that nothing of them is left."""

from __future__ import annotations

import ast
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnostics.machine.execution.ranks import TorchRanks
from diagnostics.machine.execution.torch_host import CHILDREN
from diagnostics.machine.facts import ChildTimeout, MachineError, RankResult
from diagnostics.machine.processes.descendants import all_stats, descendants

FAULTS = Path(__file__).parent / "tasks"


@pytest.fixture(scope="module")
def ranks() -> Iterator[TorchRanks]:
    found = TorchRanks(sys.executable, grace_s=0.3, tasks_dir=FAULTS)
    yield found
    found.close()


def run(
    ranks: TorchRanks,
    fault: str,
    *,
    deadline_s: float = 20.0,
    idle_s: float = 0.0,
    imports: tuple[str, ...] = (),
    **arguments: object,
) -> list[RankResult]:
    given = {"fault": fault, **arguments}
    return ranks.run_task(
        "faults", 2, backend="none", deadline_s=deadline_s, arguments=given, idle_s=idle_s, imports=imports
    )


def gone(pids: list[int]) -> bool:
    """Waits until no process of `pids` is alive; zombies of init's do not count."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if not set(pids) & set(all_stats()):
            return True
        time.sleep(0.01)
    return False


def python_that(tmp_path: Path, shell: str) -> str:
    """Returns an interpreter with something wrong about it."""
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{shell}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_hello_tells_of_torch(ranks: TorchRanks) -> None:
    facts = ranks.torch_facts()
    assert (facts.python, facts.gloo_available) == (sys.version.split()[0], True)
    assert facts.torch_file.endswith("torch/__init__.py")
    assert facts.import_seconds > 0


def test_every_rank_answers(ranks: TorchRanks) -> None:
    results = run(ranks, "nothing")
    port = results[0].answer["port"]
    assert [dict(result.answer) for result in results] == [
        {"rank": 0, "world_size": 2, "port": port},
        {"rank": 1, "world_size": 2, "port": port},
    ]
    assert [(one.returncode, one.signal, one.stderr, one.ended) for one in results] == [(0, None, "", False)] * 2


@pytest.mark.parametrize("first", [False, True])
def test_what_torch_puts_off_is_imported_once_for_all_ranks_also_by_a_child_that_runs_already(first: bool) -> None:
    ranks = TorchRanks(sys.executable, tasks_dir=FAULTS)
    asked = {"module": "torch._dynamo"}
    try:
        ranks.warm(for_modules=first)
        before = {one.answer["imported"] for one in run(ranks, "nothing", **asked)}
        ranks.warm(for_modules=True)
        pids = descendants(os.getpid(), all_stats())
        after = {one.answer["imported"] for one in run(ranks, "nothing", **asked)}
        ranks.warm()
        assert (before, after) == ({first}, {True})
        # No pool of a compiler's workers is begun for ranks, and what is read for that is nobody's variable.
        assert [one.answer["threads"] for one in run(ranks, "nothing", **asked)] == [[1, None]] * 2
        assert pids == descendants(os.getpid(), all_stats())
    finally:
        ranks.close()


def test_what_a_task_names_is_imported_once_for_its_ranks(ranks: TorchRanks) -> None:
    module = "wsgiref.headers"
    told = [run(ranks, "nothing", module=module, imports=names) for names in ((), (module,), ())]
    assert [[one.answer["imported"] for one in results] for results in told] == [[False] * 2, [True] * 2, [True] * 2]


def test_a_segfault_on_one_rank_is_that_ranks_alone(ranks: TorchRanks) -> None:
    results = run(ranks, "segfault")
    assert [(result.returncode, result.signal, result.ended) for result in results] == [
        (0, None, False),
        (-signal.SIGSEGV, signal.SIGSEGV, False),
    ]
    assert "faults.py" in results[1].stderr
    assert "in segfault" in results[1].stderr


def test_an_exception_ends_its_rank_with_a_traceback(ranks: TorchRanks) -> None:
    healthy, failed = run(ranks, "raise")
    assert (healthy.returncode, failed.returncode, failed.answer) == (0, 1, {})
    assert failed.stderr.splitlines()[-1] == "ValueError: the value of rank 1"


def test_the_peers_of_a_failed_rank_are_ended_soon(ranks: TorchRanks) -> None:
    waiting, failed = run(ranks, "raise", others_wait=True)
    assert (waiting.ended, waiting.timed_out, waiting.signal) == (True, False, signal.SIGKILL)
    assert (failed.ended, failed.returncode) == (False, 1)


def test_a_hang_is_ended_at_the_deadline_and_leaves_its_stack(ranks: TorchRanks) -> None:
    healthy, stuck = run(ranks, "hang", deadline_s=0.5)
    assert (healthy.returncode, healthy.timed_out) == (0, False)
    assert (stuck.timed_out, stuck.ended) == (True, True)
    assert "in hang" in stuck.stderr
    assert gone([stuck.pid])


def test_ranks_that_stand_still_are_ended_long_before_the_deadline_and_one_that_works_is_not(ranks: TorchRanks) -> None:
    for fault, ended in (("hang", True), ("wake_now_and_then", True), ("work", False)):
        healthy, other = run(ranks, fault, deadline_s=60.0, idle_s=1.0)
        assert (healthy.timed_out, other.timed_out, other.ended) == (False, ended, ended)
        assert other.seconds < 30
        assert (f"in {fault}" in other.stderr) is ended


def test_what_a_rank_leaves_behind_is_ended(ranks: TorchRanks) -> None:
    results = run(ranks, "leave_a_child", deadline_s=1.0)
    assert gone([result.pid for result in results])
    host = [pid for pid, one in all_stats().items() if one.ppid == os.getpid()]
    assert [pid for pid in host if len(descendants(pid, all_stats())) > 0] == []


def test_endless_output_is_kept_by_its_ends(ranks: TorchRanks) -> None:
    _, loud = run(ranks, "flood")
    assert loud.stdout == "a" * 65536 + "\n[... 168928 bytes left out ...]\n" + "b" * 65536


def test_ranks_run_again_after_a_hang_and_after_the_host_was_killed(ranks: TorchRanks) -> None:
    run(ranks, "hang", deadline_s=0.3)
    assert [result.returncode for result in run(ranks, "nothing")] == [0, 0]
    assert ranks._host is not None
    os.kill(ranks._host.process.pid, signal.SIGKILL)
    with pytest.raises(MachineError, match="was killed by signal 9"):
        run(ranks, "nothing")
    assert [result.returncode for result in run(ranks, "nothing")] == [0, 0]


def test_a_python_without_torch_is_named(tmp_path: Path) -> None:
    python = python_that(tmp_path, f'exec {sys.executable} -S -E "$@"')
    ranks = TorchRanks(python)
    with pytest.raises(MachineError) as caught:
        ranks.torch_facts()
    ranks.close()
    assert str(caught.value) == f"torch does not import under {python}: ModuleNotFoundError: No module named 'torch'"


def test_an_import_that_crashes_is_told_by_its_signal_and_last_words(tmp_path: Path) -> None:
    python = python_that(tmp_path, "echo libtorch.so: bad magic >&2; kill -SEGV $$")
    with pytest.raises(MachineError) as caught:
        TorchRanks(python).torch_facts()
    assert str(caught.value) == (
        f"`import torch` under {python}, which imports torch and runs the ranks, was killed by signal 11; "
        "it last said: libtorch.so: bad magic"
    )


def test_an_import_that_hangs_times_out_and_leaves_nothing(tmp_path: Path) -> None:
    ranks = TorchRanks(python_that(tmp_path, f"echo $$ >{tmp_path}/pid; sleep 600"))
    with pytest.raises(ChildTimeout, match=r"gave no answer within 0\.5 s"):
        ranks.torch_facts(deadline_s=0.5)
    assert gone([int((tmp_path / "pid").read_text())])


def test_a_python_that_is_not_there_is_named() -> None:
    with pytest.raises(MachineError, match="cannot start /no/python: No such file or directory"):
        TorchRanks("/no/python").torch_facts()


DOCTOR = """
import os, sys
from pathlib import Path
from diagnostics.machine.execution.ranks import TorchRanks
ranks = TorchRanks(sys.executable, tasks_dir=Path(sys.argv[1]))
if sys.argv[2] == "task":
    ranks.torch_facts()
    ranks.run_task("faults", 2, backend="none", deadline_s=600, arguments={"fault": "hang", "others_wait": True})
else:
    ranks.run_command(["sleep", "600"], 2, deadline_s=600)
"""


@pytest.mark.parametrize(("way", "expected"), [("task", 3), ("command", 2)])
def test_nothing_outlives_a_doctor_that_was_killed(way: str, expected: int) -> None:
    doctor = subprocess.Popen([sys.executable, "-c", DOCTOR, str(FAULTS), way])
    until = time.monotonic() + 60
    started: set[int] = set()
    while len(started) < expected and time.monotonic() < until:
        time.sleep(0.02)
        started = descendants(doctor.pid, all_stats())
    doctor.kill()
    doctor.wait(timeout=10)
    assert len(started) == expected
    assert gone(list(started))


def test_a_command_runs_once_a_rank_with_a_launchers_variables(ranks: TorchRanks) -> None:
    show = 'echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR $EXTRA; test "$MASTER_PORT" -gt 0'
    results = ranks.run_command(["sh", "-c", show], 2, deadline_s=20, env={"EXTRA": "more"})
    assert [(one.rank, one.returncode, one.stdout) for one in results] == [
        (0, 0, "0 0 2 2 127.0.0.1 more\n"),
        (1, 0, "1 1 2 2 127.0.0.1 more\n"),
    ]


def test_every_ranks_true_end_is_returned(ranks: TorchRanks) -> None:
    script = "test $RANK = 1 && kill -SEGV $$; exec sleep 600"
    waiting, dead = ranks.run_command(["sh", "-c", script], 2, deadline_s=60)
    assert (dead.returncode, dead.signal, dead.ended) == (-11, 11, False)
    assert (waiting.signal, waiting.ended, waiting.timed_out) == (9, True, False)
    assert gone([waiting.pid, dead.pid])


def test_a_command_is_ended_at_its_deadline(ranks: TorchRanks) -> None:
    results = ranks.run_command(["sleep", "600"], 2, deadline_s=0.3)
    assert [(one.timed_out, one.ended) for one in results] == [(True, True)] * 2
    assert gone([one.pid for one in results])


@pytest.mark.parametrize("path", sorted(CHILDREN.rglob("*.py")), ids=lambda path: path.name)
def test_children_keep_to_the_syntax_of_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 8))
