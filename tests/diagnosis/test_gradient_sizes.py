"""Sizes that differ in backward, which only gloo notices: models of different types, or ranks that went apart."""

from __future__ import annotations

from pathlib import Path

import hand_made as made

from diagnostics.core.frame import Frame
from diagnostics.diagnosis.crash import gloo_sizes_differ
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import CollectiveCall
from diagnostics.record.stacks import FaulthandlerLog, ThreadStack

SAID = "op.preamble.length <= op.nbytes. 296 vs 148. Is there a distributed collective mismatch in your code?"
FILES = {
    "main.py": "from precision import make\nmodel = DistributedDataParallel(make(rank))\nloss.backward()\n",
    "precision.py": "def make(rank):\n    net = build().float()\n    if rank % 2:\n        net = net.double()\n"
    "    return net\n",
}


def aborted(tmp_path: Path, *frames: Frame) -> Job:
    """Two ranks that had wrapped their models; gloo aborted rank 0 while it stood in `frames`."""
    places = ("main.py:2", "precision.py:4")
    made_model = [made.event("ddp", "DistributedDataParallel", *(f"{tmp_path}/{place}" for place in places))]
    fault = FaulthandlerLog(error="Aborted", threads=(ThreadStack(ident="1", crashed=False, frames=frames),))
    one = made.a_process(1, rank=0, signal=6, agent=made.agent(*made_model), stderr=SAID, fault=fault)
    two = made.a_process(2, rank=1, signal=15, ended_by="launcher", agent=made.agent(*made_model))
    return made.a_job(one, two, cwd=tmp_path, files=FILES)


def test_gradients_of_different_sizes_are_models_of_different_types(tmp_path: Path) -> None:
    backward = Frame(file="/env/torch/autograd/graph.py", line=979, function="_engine_run_backward")
    found = gloo_sizes_differ.match(aborted(tmp_path, backward))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("parameter-mismatch", (0, 1))
    assert (found.locations[0], "main.py:2" in found.locations) == ("precision.py:4", True)


def test_sizes_that_differ_outside_backward_stay_a_matter_of_collectives(tmp_path: Path) -> None:
    reduce = Frame(file="/env/torch/distributed/distributed_c10d.py", line=3, function="all_reduce")
    found = gloo_sizes_differ.match(aborted(tmp_path, reduce))
    assert found is not None
    assert found.failure_class == "collective-mismatch"


UNEVEN = {
    "main.py": """\
def main(rank):
    model = DistributedDataParallel(make())
    loader = DataLoader(Subset(data, range(rank, len(data), 2)), batch_size=3)
    for x, y in loader:
        loss = model(x).mean()
        loss.backward()
    dist.all_reduce(total)
main(rank)
"""
}
RESET = "RuntimeError: [gloo/pair.cc:537] Read error [127.0.0.1]:5: Connection reset by peer"


def test_a_rank_with_a_batch_more_than_the_others_is_told_by_the_loop(tmp_path: Path) -> None:
    backward, reduce = ((f"{tmp_path}/main.py:{line}", f"{tmp_path}/main.py:8") for line in (6, 7))
    wrap = made.event("ddp", "DistributedDataParallel", f"{tmp_path}/main.py:2", f"{tmp_path}/main.py:8")
    call = CollectiveCall(
        sequence=1, number=9, op="all_reduce", group="0", shape="1", dtype="float32", root=None,
        path=made.frames(*reduce), entered_s=2.0, left_s=None,
    )  # fmt: skip
    stack = (made.frame(reduce[0]), made.frame(reduce[1], "<module>"))
    fault = FaulthandlerLog(error="Aborted", threads=(ThreadStack(ident="1", crashed=False, frames=stack),))
    one = made.a_process(
        1, rank=0, signal=15, ended_by="launcher", agent=made.agent(wrap), raised=(made.raised(RESET, *backward),)
    )
    two = made.a_process(2, rank=1, signal=6, agent=made.agent(wrap, collectives=(call,)), stderr=SAID, fault=fault)
    found = gloo_sizes_differ.match(made.a_job(one, two, cwd=tmp_path, files=UNEVEN))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("collective-missing", (1,))
    assert found.locations[0] == "main.py:4"
    assert found.finding.title == (
        "Rank 0 at main.py:6, rank 1 at main.py:7 met in one collective with 296 against 148 bytes; "
        "gloo aborted rank 1. Their ways part at main.py:4: for x, y in loader:"
    )
