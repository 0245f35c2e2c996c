"""Proved deadlocks and silent disagreements, each with its whole finding, and the healthy twin that is left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import hand_made as made
import pytest
from deadlocked import call, done, hung, rank

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.diagnosis.hang import collective_not_joined, collectives_disagree, peers_wait_for_each_other
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.silent import collectives_mixed_up
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.supervisor_facts import Stall

HANGS = (collectives_disagree, collective_not_joined, peers_wait_for_each_other)
REACHED = "every operation that a rank waits in is reached by the ranks it needs"
GRAPH = "wait-for graph over these calls"


def seen(number: int, observed: str) -> Evidence:
    return Evidence(source=f"record/agents: rank {number} at 4.5 s", observed=observed)


def path(number: int, line: int) -> Evidence:
    return Evidence(source=f"call path of rank {number}", observed=f"train.py:{line} main")


def proofs(job: Job) -> list[Match]:
    """Returns what all signatures of proved hangs say."""
    return [found for one in HANGS if (found := one.match(job)) is not None]


def told(found: Match) -> tuple[str, tuple[int, ...], tuple[int, ...], JobOutcome]:
    return found.failure_class, found.culprit_ranks, found.victim_ranks, found.outcome


SIZES = """\
dist.all_reduce(ready)
if rank == 0:
    size = 9
dist.all_reduce(torch.ones(size))
"""


def sizes(folder: Path, shape: str = "9") -> Job:
    """Two ranks in one all_reduce, of which one hands over nine elements."""
    ranks = [
        rank(n, done("all_reduce", 1, f"{folder}/train.py:1"), call("all_reduce", 2, f"{folder}/train.py:4", shape=s))
        for n, s in enumerate((shape, "8"))
    ]
    return hung(folder, *ranks, source=SIZES)


SKIPS = """\
for batch in loader:
    loss = model(batch)
    if not isfinite(loss):
        continue
    dist.all_reduce(loss)
dist.barrier()
"""


def skips(folder: Path, comes: bool = False) -> Job:
    """One rank has left the loop, the other one is in it; or that one was seen outside, and may still come."""
    alike, after = done("all_reduce", 1, f"{folder}/train.py:5"), f"{folder}/train.py:6"
    inside = () if comes else (call("all_reduce", 2, f"{folder}/train.py:5"),)
    first = rank(0, alike, call("barrier", 2, after, shape="", dtype=""))
    return hung(folder, first, rank(1, alike, *inside), source=SKIPS)


PEERS = "peer = 1 - rank\ndist.send(data, peer)\ndist.recv(data, peer)\n"


PAIRS = """\
if leads(rank):
    dist.send(data, peer)
    dist.recv(data, peer)
else:
    dist.recv(data, peer)
    dist.send(data, peer)
"""


def peers(folder: Path, under_way: bool = False, source: str = PEERS, **fields: Any) -> Job:
    """Both ranks send first, and nobody receives; or one of them receives."""
    ops = ("send", "recv" if under_way else "send")
    ranks = [
        rank(n, call(op, -1, f"{folder}/train.py:{2 + (op == 'recv')}", root=1 - n, entered_s=2.0), **fields)
        for n, op in enumerate(ops)
    ]
    return hung(folder, *ranks, source=source)


TYPES = """\
total = torch.zeros(8)
dist.all_reduce(total)
if rank == 1:
    total = total.double()
dist.all_reduce(total)
"""


def types(folder: Path, other: str = "float64") -> Job:
    """A job that ended well; its ranks' second all_reduce is of two types."""
    ranks = [
        rank(
            n, done("all_reduce", 1, f"{folder}/train.py:2"),
            done("all_reduce", 2, f"{folder}/train.py:5", dtype=dtype),
            hashed=len(dtype) + n * (dtype != "float32"), code=0, signal=None, ended_by="",
        )
        for n, dtype in enumerate(("float32", other))
    ]  # fmt: skip
    return made.a_job(*ranks, code=0, cwd=folder, files={"train.py": TYPES})


def test_another_size_in_one_slot_is_a_proved_disagreement(tmp_path: Path) -> None:
    (found,) = proofs(sizes(tmp_path))
    assert told(found) == ("collective-mismatch", (0, 1), (), JobOutcome.HANG)
    assert found.finding == Finding(
        code="D302", name="collectives-disagree", severity=Severity.ERROR, confidence=Confidence.CONFIRMED,
        where="ranks 0, 1, train.py:2",
        title="Rank 0 waits in all_reduce(9, float32) at train.py:4; rank 1 waits in all_reduce(8, float32) at "
        "train.py:4: none of them can ever go on. Their ways part at train.py:2: if rank == 0:",
        evidence=(
            seen(0, "waits in all_reduce(9, float32) at train.py:4, operation 2 of group 0, since 0.2 s"),
            seen(1, "waits in all_reduce(8, float32) at train.py:4, operation 2 of group 0, since 0.2 s"),
            Evidence(
                source=GRAPH, expected=REACHED,
                observed="ranks 0, 1 wait for ever (mismatch), from 0.2 s on; rank 0 and rank 1 differ in size",
            ),
            Evidence(source="last call that rank 0 and rank 1 made alike: all_reduce", observed="train.py:1 main"),
            Evidence(
                source="train.py:2",
                observed="     1  dist.all_reduce(ready)\n>    2  if rank == 0:\n     3      size = 9\n"
                "     4  dist.all_reduce(torch.ones(size))",
            ),
            Evidence(
                source="train.py:4",
                observed="     2  if rank == 0:\n     3      size = 9\n>    4  dist.all_reduce(torch.ones(size))",
            ),
            path(0, 4),
            path(1, 4),
        ),
        fix=Fix(
            text="give all_reduce() tensors of one size on all ranks (train.py:4: rank 0 has 9, rank 1 has 8): pad or "
            "cut them first, or gather their sizes and then by the largest"
        ),
    )  # fmt: skip


def test_a_skipped_turn_is_the_line_that_kept_a_rank_from_its_peer(tmp_path: Path) -> None:
    (found,) = proofs(skips(tmp_path))
    assert told(found) == ("collective-missing", (0,), (1,), JobOutcome.HANG)
    assert found.finding == Finding(
        code="D303", name="collective-not-joined", severity=Severity.ERROR, confidence=Confidence.LIKELY,
        where="rank 0, train.py:3",
        title="Rank 0 waits in barrier() at train.py:6; rank 1 waits in all_reduce(8, float32) at train.py:5: none of "
        "them can ever go on. Their ways part at train.py:3: if not isfinite(loss):",
        evidence=(
            seen(0, "waits in barrier() at train.py:6, operation 2 of group 0, since 0.2 s"),
            seen(1, "waits in all_reduce(8, float32) at train.py:5, operation 2 of group 0, since 0.2 s"),
            Evidence(
                source=GRAPH, expected=REACHED,
                observed="ranks 0, 1 wait for ever (mismatch), from 0.2 s on; rank 0 and rank 1 differ in operation",
            ),
            Evidence(source="last call that rank 0 and rank 1 made alike: all_reduce", observed="train.py:5 main"),
            Evidence(
                source="train.py:3",
                observed="     1  for batch in loader:\n     2      loss = model(batch)\n"
                ">    3      if not isfinite(loss):\n     4          continue\n     5      dist.all_reduce(loss)",
            ),
            Evidence(
                source="train.py:4",
                observed="     2      loss = model(batch)\n     3      if not isfinite(loss):\n"
                ">    4          continue\n     5      dist.all_reduce(loss)\n     6  dist.barrier()",
            ),
            path(0, 6),
            path(1, 5),
        ),
        fix=Fix(
            text="let all ranks decide alike at train.py:3: write agreed = torch.tensor(int(bool(not "
            "isfinite(loss)))), dist.all_reduce(agreed, op=dist.ReduceOp.MAX) (if any rank says so; MIN: if all do), "
            "and test agreed.item()"
        ),
    )  # fmt: skip


def test_two_ranks_that_send_first_wait_for_each_other(tmp_path: Path) -> None:
    (found,) = proofs(peers(tmp_path))
    assert told(found) == ("p2p-deadlock", (0, 1), (), JobOutcome.HANG)
    assert found.finding == Finding(
        code="D304", name="peers-wait-for-each-other", severity=Severity.ERROR, confidence=Confidence.CONFIRMED,
        where="ranks 0, 1, train.py:2",
        title="Rank 0 waits in send(8, float32, to 1) at train.py:2; rank 1 waits in send(8, float32, to 0) at "
        "train.py:2: none of them can ever go on",
        evidence=(
            seen(0, "waits in send(8, float32, to 1) at train.py:2, since 2.0 s"),
            seen(1, "waits in send(8, float32, to 0) at train.py:2, since 2.0 s"),
            Evidence(source=GRAPH, observed="ranks 0, 1 wait for ever (peers), from 2.0 s on", expected=REACHED),
            path(0, 2),
            path(1, 2),
        ),
        fix=Fix(
            text="let one side of each pair send first and the other receive first, or hand both to batch_isend_irecv; "
            "check that each send has one receive, of the same peer and tag"
        ),
    )  # fmt: skip


def test_the_test_that_was_to_tell_pairs_apart_stands_first(tmp_path: Path) -> None:
    (found,) = proofs(peers(tmp_path, source=PAIRS))
    assert told(found) == ("p2p-deadlock", (0, 1), (), JobOutcome.HANG)
    assert (found.locations, found.finding.where) == (("train.py:1", "train.py:2"), "ranks 0, 1, train.py:1")
    assert found.finding.title.endswith("; all of them went the same way at train.py:1: if leads(rank):")
    other = PAIRS.replace("else:\n    dist.recv", "else:\n    dist.send")
    assert proofs(peers(tmp_path, source=other))[0].locations == ("train.py:2",)


def test_halves_of_a_message_that_stood_still_for_long_are_presumed_not_to_fit(tmp_path: Path) -> None:
    unproved = peers(tmp_path, under_way=True, at_s=20.0)
    for long, expected in ((12.0, [("p2p-deadlock", (0, 1), (), JobOutcome.HANG)]), (3.0, [])):
        ended = {
            "ended_by": "stall-timeout", "proved": (), "ended_s": 2.0 + long,
            "stalls": (Stall(began_s=2.0, seen_s=2.0 + long),),
        }  # fmt: skip
        job = replace(unproved, facts=replace(unproved.facts, **ended))
        found = proofs(job)
        assert [told(one) for one in found] == expected
        for one in found:
            assert one.finding.confidence is Confidence.LIKELY
            assert one.locations == ("train.py:2", "train.py:3")
            assert "they are for each other, and do not fit" in one.finding.title


def test_what_may_still_go_on_is_no_deadlock(tmp_path: Path) -> None:
    healthy = (sizes(tmp_path, "8"), skips(tmp_path, comes=True), peers(tmp_path, under_way=True))
    assert [proofs(job) for job in healthy] == [[], [], []]


def test_two_types_in_one_collective_that_completed_are_told(tmp_path: Path) -> None:
    found = collectives_mixed_up.match(types(tmp_path))
    assert found is not None
    assert told(found) == ("collective-mismatch", (0, 1), (), JobOutcome.SILENT_WRONG)
    assert found.finding == Finding(
        code="D540", name="collectives-mixed-up", severity=Severity.ERROR, confidence=Confidence.LIKELY,
        where="ranks 0, 1, train.py:3",
        title="Rank 0 and rank 1 disagreed in dtype in operation 2 of group 0, which completed all the same: "
        "rank 0 all_reduce(8, float32) at train.py:5, rank 1 all_reduce(8, float64) at train.py:5",
        evidence=(
            Evidence(source="record/agents: rank 0, operation 2", observed="all_reduce(8, float32)"),
            Evidence(source="record/agents: rank 1, operation 2", observed="all_reduce(8, float64)"),
            path(0, 5),
            path(1, 5),
            Evidence(
                source="rolling hashes of group 0", expected="equal",
                observed="rank 0: 3 calls, 0000000000000007; rank 1: 3 calls, 0000000000000008",
            ),
        ),
        fix=Fix(text="let all ranks call the same operation with the same type, size, root and reduction there"),
    )  # fmt: skip


def test_calls_that_fit_together_are_not_mixed_up(tmp_path: Path) -> None:
    assert collectives_mixed_up.match(types(tmp_path, "float32")) is None


def wrapped(folder: Path, *later: int, last: int = 2000) -> Job:
    """Ranks whose rings hold one late call, alike; rank 1 has the hashes `later` after its calls 500, 1000 and 1500."""
    calls = [done("all_reduce", number, f"{folder}/train.py:2") for number in (2000, last)]
    ended = {"code": 0, "signal": None, "ended_by": ""}
    marks = (500, 1000, 1500)
    one = rank(0, calls[0], hashed=9, checkpoints=tuple(zip(marks, (1, 2, 3), strict=True)), **ended)
    two = rank(1, calls[1], hashed=later[-1], checkpoints=tuple(zip(marks, later, strict=True)), **ended)
    return made.a_job(one, two, code=0, cwd=folder, files={"train.py": TYPES})


def test_what_a_ring_no_longer_holds_is_bounded_by_its_hashes(tmp_path: Path) -> None:
    found = collectives_mixed_up.match(wrapped(tmp_path, 1, 7, 8))
    assert found is not None
    title = "Rank 0 and rank 1 made other calls in group 0, between its calls 500 and 1000, and none failed"
    assert (found.finding.title, found.finding.confidence) == (title, Confidence.LIKELY)
    assert collectives_mixed_up.match(wrapped(tmp_path, 1, 7, 8, last=2001)) is None  # more calls: of a join(), say


def test_ranks_whose_last_common_call_is_no_longer_held_part_all_the_same(tmp_path: Path) -> None:
    first, second = (call("barrier", 9, f"{tmp_path}/train.py:6"), call("all_reduce", 9, f"{tmp_path}/train.py:5"))
    (found,) = proofs(hung(tmp_path, rank(0, first), rank(1, second), source=SKIPS))
    assert told(found)[:2] == ("collective-missing", (0,))
    assert not [one for one in found.finding.evidence if one.source.startswith("last call")]
    assert found.locations[:1] == ("train.py:3",)


GUARDED = """\
for epoch in range(3):
    train()
    if rank == 0 and epoch == 1:
        dist.broadcast(late, src=0)
dist.all_reduce(total)
"""


def test_a_rank_that_its_test_let_in_is_to_blame_though_the_other_left_the_loop(tmp_path: Path) -> None:
    alike, inside = done("all_reduce", 1, f"{tmp_path}/train.py:2"), f"{tmp_path}/train.py:4"
    ranks = [
        rank(0, alike, call("broadcast", 2, inside, root=0)),
        rank(1, alike, call("all_reduce", 2, f"{tmp_path}/train.py:5")),
    ]
    (found,) = proofs(hung(tmp_path, *ranks, source=GUARDED))
    assert (found.culprit_ranks, found.locations[0]) == ((0,), "train.py:3")


LONGER = """\
for batch in (longer if rank == 0 else loader):
    dist.all_reduce(batch)
dist.barrier()
"""


def one_turn_apart(folder: Path) -> list[JobProcess]:
    """Rank 0 is in the loop's second turn, rank 1 has left it."""
    alike, inside = done("all_reduce", 1, f"{folder}/train.py:2"), f"{folder}/train.py:2"
    return [rank(0, alike, call("all_reduce", 2, inside)), rank(1, alike, call("barrier", 2, f"{folder}/train.py:3"))]


@pytest.mark.parametrize("source", [LONGER, LONGER.replace("rank == 0", "is_main_process()")], ids=["number", "name"])
def test_a_rank_that_has_a_loop_of_its_own_is_to_blame_though_the_other_left_it(tmp_path: Path, source: str) -> None:
    ranks = one_turn_apart(tmp_path)
    (found,) = proofs(hung(tmp_path, *ranks, source=source))
    assert (found.culprit_ranks, found.locations[0]) == ((0,), "train.py:1")


def test_a_loop_that_gives_no_rank_its_own_blames_who_left_it(tmp_path: Path) -> None:
    ranks = one_turn_apart(tmp_path)
    source = LONGER.replace("(longer if rank == 0 else loader)", "shards[rank]")
    (found,) = proofs(hung(tmp_path, *ranks, source=source))
    assert (found.culprit_ranks, found.locations[0]) == ((1,), "train.py:1")


DONOR = """\
def donor(board):
    rivals = [r for r in range(size) if r != rank]
    return max(rivals, key=board.__getitem__)
step = 0.8 if rank % 2 else 1.2
weights = {weights}
dist.all_gather(board, score)
dist.broadcast(weights, src=donor(board))
"""


def test_calls_that_name_another_root_are_told_by_what_gives_the_root_not_by_what_they_carry(tmp_path: Path) -> None:
    line = f"{tmp_path}/train.py:7"
    for weights in ("torch.ones(8)", "torch.ones(8) * step"):
        ranks = [
            rank(n, done("all_gather", 1, f"{tmp_path}/train.py:6"), call("broadcast", 2, line, root=1 - n))
            for n in (0, 1)
        ]
        (found,) = proofs(hung(tmp_path, *ranks, source=DONOR.format(weights=weights)))
        assert (found.failure_class, found.culprit_ranks) == ("collective-mismatch", (0, 1))
        assert set(found.locations) == {"train.py:2", "train.py:7"}


def test_a_root_whose_origin_is_not_known_is_told_at_the_call(tmp_path: Path) -> None:
    line, source = f"{tmp_path}/train.py:3", "import dist, plan\nboard = plan.board()\ndist.broadcast(x, plan.best())\n"
    ranks = [rank(n, call("broadcast", 1, line, root=1 - n)) for n in (0, 1)]
    (found,) = proofs(hung(tmp_path, *ranks, source=source))
    assert found.locations == ("train.py:3",)


ANOTHER_GROUP = """\
everyone = dist.new_group([0, 1])
with tqdm(batches, disable=rank != 0) as bar:
    for batch in bar:
        dist.all_reduce(seen, group=dist.group.WORLD if rank == 0 else everyone)
"""


def test_calls_in_unlike_groups_are_told_by_what_gives_the_group_not_by_a_bar_around_them(tmp_path: Path) -> None:
    ranks = [rank(n, call("all_reduce", 1, f"{tmp_path}/train.py:4", group=str(n))) for n in (0, 1)]
    (found,) = proofs(hung(tmp_path, *ranks, source=ANOTHER_GROUP))
    assert (found.failure_class, found.locations[0]) == ("collective-mismatch", "train.py:4")
