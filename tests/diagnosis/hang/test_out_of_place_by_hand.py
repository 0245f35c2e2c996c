"""Collectives that stand where not all ranks can be expected: in finalizers, and in loops over uneven inputs."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
import pytest
from deadlocked import call, hung, rank

from diagnostics.core.frame import Frame
from diagnostics.diagnosis.hang import collective_not_joined, collectives_disagree
from diagnostics.dynamic.job.job import Job

SITE = "/venv/lib/python3.11/site-packages"
TRAINS = """\
import torch.distributed as dist
with Join([net]):
    for x in batches:
        loss = net(x)
        loss.backward()
        dist.all_gather(box, loss)
"""
FREES = """\
import torch.distributed as dist
class Cache:
    def __del__(self):
        dist.barrier()
cache = Cache()
dist.all_reduce(x)
"""


def frames(*places: tuple[str, int, str]) -> tuple[Frame, ...]:
    """Returns a stack, innermost first."""
    return tuple(Frame(file=file, line=line, function=function) for file, line, function in places)


def job_in_join(folder: Path, *above: tuple[str, int, str], line: int) -> Job:
    """Returns one rank in the exit of Join, and one in a collective that it made from `line` through `above`."""
    script = str(folder / "train.py")
    joined = f"{SITE}/torch/distributed/algorithms/join.py"
    leaving = frames(
        (joined, 286, "Join._get_num_nonjoined_procs"), (joined, 265, "Join.__exit__"), (script, 2, "main")
    )
    other = frames(*above, (script, line, "main"))
    return hung(
        folder,
        rank(0, call("all_reduce", 1, f"{script}:2", shape="1"), stacks=(leaving,)),
        rank(1, call("all_gather", 1, f"{script}:{line}"), stacks=(other,)),
        source=TRAINS,
    )


def told(job: Job) -> tuple[tuple[int, ...], str, str] | None:
    """Returns culprits, line and title of the deadlock."""
    match = collective_not_joined.match(job) or collectives_disagree.match(job)
    return (match.culprit_ranks, match.locations[0], match.finding.title) if match is not None else None


def test_a_collective_of_the_programs_own_in_a_loop_under_join_is_the_fault_of_no_rank(tmp_path: Path) -> None:
    found = told(job_in_join(tmp_path, (f"{SITE}/torch/distributed/distributed_c10d.py", 4287, "all_gather"), line=6))
    assert found is not None
    assert found[:2] == ((0, 1), "train.py:6")
    assert found[2].endswith(
        "train.py:6 is a collective of the program's own, which no rank answers that has run out of inputs: "
        "Join answers only what its modules and optimizers exchange"
    )


@pytest.mark.parametrize(
    "above",
    [(f"{SITE}/torch/_tensor.py", 630, "backward"), (f"{SITE}/torch/nn/parallel/distributed.py", 1600, "forward")],
)
def test_what_ddp_exchanges_under_join_is_no_collective_of_the_programs_own(
    tmp_path: Path, above: tuple[str, int, str]
) -> None:
    found = told(job_in_join(tmp_path, above, line=5))
    assert found is not None
    assert "run out of inputs" not in found[2]


def test_a_collective_in_a_finalizer_is_told_at_the_finalizers_line(tmp_path: Path) -> None:
    script = str(tmp_path / "train.py")
    freed = frames((script, 4, "Cache.__del__"), (script, 6, "<module>"))
    job = hung(
        tmp_path,
        rank(0, call("barrier", 1, f"{script}:4", f"{script}:6", shape="", dtype=""), stacks=(freed,)),
        rank(1, call("all_reduce", 1, f"{script}:6"), stacks=(made.frames(f"{script}:6"),)),
        source=FREES,
    )
    found = told(job)
    assert found is not None
    assert found[1] == "train.py:4"
    assert found[2].endswith("train.py:4 is in a finalizer, which each rank runs when it frees the object")
