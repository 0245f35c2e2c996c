"""A rank that ended well before its peers were through: the statement that let it go is named, not the peers' wait."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import hand_made as made
import pytest
from deadlocked import call, done, rank

from diagnostics.diagnosis.crash import gloo_sizes_differ
from diagnostics.diagnosis.hang import rank_ended_before_its_peers
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import Steps
from diagnostics.record.stacks import FaulthandlerLog, ThreadStack

LOST = "RuntimeError: [gloo/pair.cc:537] Read error [127.0.0.1]:5: Connection reset by peer"
SAID = "op.preamble.length <= op.nbytes. 8 vs 4. Is there a distributed collective mismatch in your code?"
SHARDS = """\
def main(rank):
    for batch in shards(rank):
        dist.all_reduce(batch)
    print("done")
main(rank)
"""
NO_DATA = """\
def main(rank):
    dist.barrier()
    data = load(rank)
    if data is None:
        return
    dist.all_reduce(data)
main(rank)
"""


def left_alone(folder: Path, source: str, last: int, waits: int) -> Job:
    """Rank 1 ended with 0 after the call in line `last`; rank 0 lost it in line `waits`."""
    at = [(f"{folder}/train.py:{line}", f"{folder}/train.py:{source.count(chr(10))}") for line in (last, waits)]
    zero = rank(
        0, done("all_reduce", 1, *at[0]), call("all_reduce", 2, *at[1], left_s=0.9, failed=True),
        signal=None, ended_by="", code=1, raised=(made.raised(LOST, *at[1]),), stderr=LOST,
    )  # fmt: skip
    one = rank(1, done("all_reduce", 1, *at[0]), signal=None, ended_by="", code=0, at_s=1.0)
    return made.a_job(zero, one, cwd=folder, files={"train.py": source}, culprits=(one,), victims=(zero,))


@pytest.mark.parametrize(("source", "last", "waits", "line"), [(SHARDS, 3, 3, 2), (NO_DATA, 2, 6, 4)])
def test_the_statement_that_let_the_rank_go_comes_before_the_wait_of_its_peer(
    tmp_path: Path, source: str, last: int, waits: int, line: int
) -> None:
    found = rank_ended_before_its_peers.match(left_alone(tmp_path, source, last, waits))
    assert found is not None
    assert (found.culprit_ranks, found.locations[0]) == ((1,), f"train.py:{line}")
    assert f"train.py:{waits}" in found.locations
    assert found.finding.title.startswith(
        f"Rank 1 ended with exit code 0 before rank 0, which waited at train.py:{waits}. "
        f"Their ways part at train.py:{line}: {source.splitlines()[line - 1].strip()}"
    )


ALONE = """\
def main(rank):
    for epoch in range(3):
        dist.all_reduce(batch)
        if rank == 0:
            dist.all_reduce(score)
    print("done")
main(rank)
"""


def test_a_rank_that_a_test_of_the_rank_had_wait_alone_is_the_culprit_and_not_the_one_that_ended(
    tmp_path: Path,
) -> None:
    found = rank_ended_before_its_peers.match(left_alone(tmp_path, ALONE, 3, 5))
    assert found is not None
    assert (found.culprit_ranks, found.victim_ranks, found.locations[0]) == ((0,), (1,), "train.py:4")
    assert found.finding.where == "rank 0, train.py:4"
    assert found.finding.fix is not None
    assert found.finding.fix.text == (
        "take all_reduce() at train.py:5 out of the test of train.py:4: every rank has to make it; keep under the test "
        "only what writes or prints"
    )


SKIPPED = """\
def main(rank):
    for x in range(9):
        if not finite(x):
            continue
        dist.all_reduce(x)
    dist.all_reduce(sizes)
main(rank)
"""


def met(folder: Path, *lines: int) -> Job:
    """Both ranks in call 2 of the group, each from a line of its own; gloo aborted rank 0."""
    ways = [(f"{folder}/train.py:{line}", f"{folder}/train.py:7") for line in lines]
    before = done("all_reduce", 1, f"{folder}/train.py:5", f"{folder}/train.py:7")
    stack = (made.frame(ways[0][0], "main"), made.frame(ways[0][1], "<module>"))
    fault = FaulthandlerLog(error="Aborted", threads=(ThreadStack(ident="1", crashed=False, frames=stack),))
    zero = rank(0, before, call("all_reduce", 2, *ways[0], shape="3"), signal=6, stderr=SAID, fault=fault, ended_by="")
    one = rank(
        1, before, call("all_reduce", 2, *ways[1], shape="2", dtype="int64", left_s=0.9, failed=True),
        raised=(made.raised(LOST, *ways[1]),), ended_by="launcher",
    )  # fmt: skip
    return made.a_job(zero, one, cwd=folder, files={"train.py": SKIPPED})


def test_calls_from_two_lines_that_met_are_a_matter_of_the_way_there(tmp_path: Path) -> None:
    found = gloo_sizes_differ.match(met(tmp_path, 5, 6))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations[0]) == ("collective-missing", (1,), "train.py:3")


def test_calls_from_one_line_that_differ_are_a_matter_of_what_was_handed_over(tmp_path: Path) -> None:
    found = gloo_sizes_differ.match(met(tmp_path, 5, 5))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "collective-mismatch", (0, 1), ("train.py:5", "train.py:7"),
    )  # fmt: skip


LOGGED = """\
class Console:
    def __init__(self):
        self.on = dist.get_rank() == 0
    def __call__(self, step):
        if self.on and step % 25 == 0:
            self.show()
    def show(self):
        dist.all_reduce(self.samples)
def main():
    console = Console()
    model = DDP(Net())
    for step in range(100):
        loss = model(batch(step))
        loss.backward()
        optimizer.step()
        console(step)
main()
"""
ENGINE = "torch/autograd/graph.py"


def met_in_backward(folder: Path, innermost: str) -> Job:
    """Rank 0 in a call that its log makes, rank 1 where only C++ exchanges, as far as what it printed tells."""
    where = f"{folder}/train.py"
    ways = [[f"{where}:{line}" for line in lines] for lines in ((8, 6, 16, 17), (14, 17))]
    stack = tuple(made.frame(one, "<module>" if one.endswith(":17") else "main") for one in ways[0])
    fault = FaulthandlerLog(error="Aborted", threads=(ThreadStack(ident="1", crashed=False, frames=stack),))
    printed = "".join(
        f'  File "{file}", line {line}, in {name}\n'
        for file, line, name in (
            (where, 17, "<module>"),
            (where, 14, "main"),
            (f"/v/site-packages/{innermost}", 9, "f"),
        )
    )
    zero = rank(0, call("all_reduce", 30, *ways[0]), signal=6, stderr=SAID, fault=fault, ended_by="")
    one = rank(
        1, raised=(made.raised(LOST, *ways[1]),), ended_by="launcher",
        stderr=f"Traceback (most recent call last):\n{printed}{LOST}\n",
    )  # fmt: skip
    ranks = [
        replace(each, agent=replace(each.agent, steps=Steps(count=25, backwards=passes)))
        for each, passes in ((zero, 25), (one, 26))
        if each.agent is not None
    ]
    return made.a_job(*ranks, cwd=folder, files={"train.py": LOGGED})


def test_a_call_that_met_the_gradients_of_a_peer_is_told_by_the_flag_that_let_the_rank_in(tmp_path: Path) -> None:
    found = gloo_sizes_differ.match(met_in_backward(tmp_path, ENGINE))
    assert found is not None
    assert (found.culprit_ranks, found.locations[:2]) == ((0,), ("train.py:5", "train.py:3"))


def test_a_peer_that_was_lost_outside_of_a_backward_pass_shares_no_pass_with_the_rank(tmp_path: Path) -> None:
    found = gloo_sizes_differ.match(met_in_backward(tmp_path, "torch/distributed/distributed_c10d.py"))
    assert found is not None
    assert "train.py:5" not in found.locations


PASSES = """\
def update(cfg):
    for _ in range(cfg.passes):
        loss = actor(batch)
        loss.backward()
        kl = (new - old).mean().item()
        if kl > cfg.target_kl:
            break
for it in range(9):
    update(cfg)
    dist.all_reduce(steps)
"""


def met_in_passes(folder: Path, *kinds: str) -> Job:
    """Rank 0 behind the passes, rank 1 lost it in one; nobody printed where in the library. `kinds` are events."""
    where = f"{folder}/train.py"
    stack = (made.frame(f"{where}:10", "<module>"),)
    fault = FaulthandlerLog(error="Aborted", threads=(ThreadStack(ident="1", crashed=False, frames=stack),))
    alike = done("all_reduce", 9, f"{where}:10")
    zero = rank(
        0, alike, call("all_reduce", 15, f"{where}:10"), signal=6, stderr=SAID, fault=fault, ended_by=""
    )  # fmt: skip
    one = rank(1, alike, raised=(made.raised(LOST, f"{where}:4", f"{where}:9"),), ended_by="launcher")
    events = tuple(made.event(kind) for kind in kinds)
    ranks = [
        replace(each, agent=replace(each.agent, steps=Steps(count=25, backwards=passes), events=events))
        for each, passes in ((zero, 25), (one, 26))
        if each.agent is not None
    ]
    return made.a_job(*ranks, cwd=folder, files={"train.py": PASSES})


def test_a_peer_that_was_lost_in_a_pass_shared_the_passes_before_though_it_printed_no_traceback(tmp_path: Path) -> None:
    found = gloo_sizes_differ.match(met_in_passes(tmp_path, "ddp"))
    assert found is not None
    assert (found.culprit_ranks, found.locations[0]) == ((0,), "train.py:6")
    alone = gloo_sizes_differ.match(met_in_passes(tmp_path))  # no wrapper: C++ exchanged nothing in that pass
    assert alone is None or "train.py:6" not in alone.locations[:1]
