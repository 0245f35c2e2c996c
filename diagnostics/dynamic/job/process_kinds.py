"""What one process is by itself: a shell, a launcher of ranks, one of multiprocessing's; and its rank. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from diagnostics.dynamic.job.process_list import MergedProcess, words
from diagnostics.record.agent_data import GROUP_MADE

SHELLS = {
    "bash", "sh", "dash", "zsh", "ksh", "fish", "make", "gmake", "srun", "env", "timeout", "nohup", "xargs", "tini",
    "dumb-init", "time", "su", "sudo", "setsid", "stdbuf", "nice", "taskset", "numactl", "tee", "script", "docker",
}  # fmt: skip
LAUNCHERS = {"torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "horovodrun", "fabric"}
LAUNCHER_MODULES = re.compile(
    r"^(?:torch\.distributed\.(?:run|launch)|accelerate\.commands\.\w+|deepspeed\.launcher\.\w+)$"
)
MULTIPROCESSING = re.compile(
    r"multiprocessing\.(?:spawn|forkserver|resource_tracker|semaphore_tracker) import|--multiprocessing-fork"
)
TRACKERS = re.compile(r"multiprocessing\.(?:resource_tracker|semaphore_tracker|forkserver) import")
TEST_RUNNERS = frozenset(["pytest", "py.test", "nose2", "nosetests", "tox", "nox", "ctest", "bats"])
TEST_MODULES = frozenset(["pytest", "unittest", "nose2", "doctest", "tox", "nox"])


def group_rank(process: MergedProcess) -> int | None:
    """Returns the rank it has, or asked for, in a process group of its own."""
    for kind in (GROUP_MADE, f"{GROUP_MADE}-begin"):
        for event in reversed(process.events):
            rank = words(event.text).get("rank", "") if event.kind == kind else ""
            if rank.isdigit():
                return int(rank)
    return None


def is_launcher(process: MergedProcess) -> bool:
    """Whether its command line is that of a launcher of ranks."""
    argv = process.argv
    if process.program in LAUNCHERS:
        return True
    if not process.is_python:
        return False
    for index, word in enumerate(argv[1:4], 1):
        if word == "-m":
            return index + 1 < len(argv) and bool(LAUNCHER_MODULES.match(argv[index + 1]))
        if word.startswith("-"):
            continue
        return word.rpartition("/")[2] in LAUNCHERS
    return False


def uses_torch(process: MergedProcess) -> bool:
    """Whether its agent saw torch at work."""
    agent = process.agent
    if agent is None:
        return False
    made = {"ddp", "dataloader", "sampler", "optimizer", "process-group-begin", "process-group"}
    return bool(
        agent.steps.count or agent.entered or agent.constructions or agent.open_modules
        or any(event.kind in made for event in agent.events)
    )  # fmt: skip


def is_multiprocessing(process: MergedProcess) -> bool:
    """Whether multiprocessing started it, or it is a fork."""
    return process.forked or any(MULTIPROCESSING.search(word) for word in process.argv)


def is_tracker(process: MergedProcess) -> bool:
    """Whether it is one of multiprocessing's own: the fork server or a tracker of resources."""
    return not process.forked and any(TRACKERS.search(word) for word in process.argv)


def test_runner(argv: Sequence[str]) -> str:
    """Returns the runner of tests that a command line starts, "" for none: what it says 0 of was expected."""
    names = TEST_RUNNERS & {PurePosixPath(word).name for word in argv[:3]}
    modules = {after for word, after in itertools.pairwise(argv[:4]) if word == "-m"}
    return min(names | (TEST_MODULES & modules), default="")
