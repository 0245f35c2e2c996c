"""Collectives at which not all ranks can be expected: in finalizers, over uneven inputs, behind empty passes."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
import pytest
from deadlocked import call, hung, rank

from diagnostics.core.frame import Frame
from diagnostics.diagnosis.hang import collective_not_joined, collectives_disagree
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts
from diagnostics.dynamic.divergence.out_of_place import OutOfPlace, WhyOutOfPlace, out_of_place
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.run_marks import EmptyPass
from diagnostics.record.parameter_prints import ParameterPrints

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


def parted(empty: dict[int, int], *, native: bool = True) -> OutOfPlace | None:
    """Returns what is out of place where rank 0 waits in a backward pass; `empty` says how many of a rank's were so."""
    at = made.frames("train.py:7")
    ranks = []
    for rank_, count in empty.items():
        marks = tuple(EmptyPass(number=n + 1, path=at) for n in range(count))
        ranks.append(made.a_process(100 + rank_, rank=rank_, prints=ParameterPrints(marks=marks)))
    wait = PendingOperation(
        kind=OperationKind.COLLECTIVE, op="all_reduce", group="0", ranks=(0, 1), slot=8, native=native
    )
    waiting = RankState(rank=0, pid=100, at_s=1.0, stand=Whereabouts.WAITING, waits=(wait,))
    return out_of_place(made.a_job(*ranks), [waiting])


def test_a_backward_pass_without_a_graph_on_some_ranks_is_why_the_others_wait_in_theirs() -> None:
    (line,) = made.frames("train.py:7")
    assert parted({0: 0, 1: 1}) == OutOfPlace(line, WhyOutOfPlace.EMPTY_BACKWARD, (1,))
    assert parted({0: 1, 1: 2, 2: 2}) == OutOfPlace(line, WhyOutOfPlace.EMPTY_BACKWARD, (1, 2))


def test_empty_passes_part_no_ranks_that_made_as_many_or_wait_elsewhere() -> None:
    assert parted({0: 0, 1: 0}) is None
    assert parted({0: 2, 1: 2}) is None
    assert parted({0: 0, 1: 1}, native=False) is None
