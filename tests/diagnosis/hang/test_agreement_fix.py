"""What is to be written where ranks parted: whole texts, by the statement that sent them apart."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
import pytest
from deadlocked import call, done, rank

from diagnostics.core.findings import Fix
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.agreement_fix import agreement_fix
from diagnostics.dynamic.collectives.rank_state_builder import positions_of
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind

USUAL = Fix(text="as always")
# Source, the line of the decision, its kind, its taint, and the line at which rank 0 waits in a barrier.
CASES = {
    "a test of what each rank has": (
        "if tracker.worse(loss.item()):\n    stop()\ndist.barrier()", 1, StatementKind.BRANCH, "local loss", 3,
        "let all ranks decide alike at train.py:1: write agreed = torch.tensor(int(bool(tracker.worse(loss.item())))), "
        "dist.all_reduce(agreed, op=dist.ReduceOp.MAX) (if any rank says so; MIN: if all do), and test agreed.item()",
    ),
    "a break under such a test": (
        "for x in data:\n    if bad(x):\n        break\ndist.barrier()", 3, StatementKind.LEAVES_LOOP, "data", 4,
        "let all ranks decide alike at train.py:2: write agreed = torch.tensor(int(bool(bad(x)))), "
        "dist.all_reduce(agreed, op=dist.ReduceOp.MAX) (if any rank says so; MIN: if all do), and test agreed.item()",
    ),
    "a call under a test of the rank": (
        "if rank == 0:\n    dist.barrier()\nstep()", 1, StatementKind.BRANCH, "rank", 2,
        "take barrier() at train.py:2 out of the test of train.py:1: every rank has to make it; keep under the test "
        "only what writes or prints",
    ),
    "a rank that leaves by such a test": (
        "def save():\n    if rank != 0:\n        return\n    dist.barrier()", 2, StatementKind.BRANCH, "rank", 4,
        "let no rank leave by the test of train.py:2 (line 3): every rank has to come to the call in which the others "
        "wait",
    ),
    "a test of the rank that holds neither": (
        "if rank == 0:\n    size = 9\ndist.barrier()", 1, StatementKind.BRANCH, "rank", 3, "as always",
    ),
    "shards of unequal length": (
        "for i, batch in enumerate(tqdm(train_loader)):\n    step()\ndist.barrier()", 1, StatementKind.LOOP, "data", 3,
        "let the loop of train.py:1 run equally often on every rank: equal shares of the data (a DistributedSampler, "
        "drop_last), or agree on the least before it, n = torch.tensor(len(train_loader)); dist.all_reduce(n, "
        "op=dist.ReduceOp.MIN), and stop there",
    ),
    "other items": (
        "for p in params:\n    dist.barrier()", 1, StatementKind.LOOP, "rank", 2,
        "let the loop of train.py:1 go over the same items on every rank: params differs between them",
    ),
    "a set": (
        "for name in names:\n    dist.barrier()", 1, StatementKind.LOOP, "order", 2,
        "go over sorted(names) at train.py:1: a set has an order of its own in each process",
    ),
    "a handler": (
        "try:\n    step()\nexcept ValueError:\n    pass\ndist.barrier()", 3, StatementKind.HANDLES, "exception", 5,
        "a rank that failed must not go on alone (train.py:3): set a flag there, all_reduce it (MAX) on every rank "
        "where the others wait, and let all of them skip, retry or raise together",
    ),
    "an exit": (
        "if bad():\n    sys.exit(0)\ndist.barrier()", 2, StatementKind.EXITS, "data", 3,
        "let no rank exit alone at train.py:2: agree first (all_reduce the decision), or raise, so that the launcher "
        "ends all ranks",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_fix_is_said_of_the_statement_that_decided(tmp_path: Path, name: str) -> None:
    source, line, kind, why, waits, text = CASES[name]
    ranks = [
        rank(0, done("all_reduce", 1, f"{tmp_path}/train.py:1"), call("barrier", 2, f"{tmp_path}/train.py:{waits}")),
        rank(1, done("all_reduce", 1, f"{tmp_path}/train.py:1")),
    ]
    job = made.a_job(*ranks, cwd=tmp_path, files={"train.py": source})
    at = Frame(file=f"{tmp_path}/train.py", line=line, function="main")
    shown = source.splitlines()[line - 1].strip()
    decided = DivergencePoint(kind=kind, frame=at, text=shown, tainted_by=why)
    waiting = [one for one in positions_of(job, 4.5) if one.rank == 0]
    assert agreement_fix(job, decided, waiting, USUAL).text == text


def test_where_no_statement_decided_the_usual_is_said(tmp_path: Path) -> None:
    assert agreement_fix(made.a_job(cwd=tmp_path), None, (), USUAL) is USUAL
