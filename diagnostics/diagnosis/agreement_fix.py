"""What to write where ranks parted: says it of the statement that sent them apart, in the program's own words. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagnostics.core.findings import Fix
from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.dynamic.divergence.rank_partition import user_stack
from diagnostics.dynamic.job.job import Job
from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.taint_sources import EXCEPTION, LOADER_NAMES, ORDER

MOST_WORDS = 70  # characters of an expression that is repeated
_SENDS_BUFFERS = "_sync_buffers"  # of DistributedDataParallel; a printed traceback has no class
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_JUMPING = (StatementKind.RETURNS, StatementKind.LEAVES_LOOP, StatementKind.SKIPS)
_PASSED_THROUGH = {"enumerate", "tqdm", "iter", "trange", "islice", "progress", "track"}  # what they go over decides


def agreement_fix(job: Job, decision: DivergencePoint | None, waiting: Sequence[RankState], usual: Fix) -> Fix:
    """Returns what to write at the statement that decided; `usual` where nothing better is known of it."""
    if decision is None:
        return usual
    at = job.line(decision.frame)
    source = job.sources.file(decision.frame.file)
    statement = source.statement_at(decision.frame.line)
    if decision.kind is StatementKind.EXITS:
        return Fix(
            text=f"let no rank exit alone at {at}: agree first (all_reduce the decision), or raise, so that the "
            "launcher ends all ranks"
        )
    if decision.kind is StatementKind.HANDLES or decision.tainted_by == EXCEPTION:
        return _after_a_failure(at)
    if decision.kind is StatementKind.LOOP and isinstance(statement, (ast.For, ast.AsyncFor)):
        return _equal_rounds(statement, decision, at, source.text)
    if decision.kind in _JUMPING:
        statement = _condition_around(job, decision.frame) or statement
    if not isinstance(statement, (ast.If, ast.While)):
        return usual
    at = _at(job, decision.frame, statement)
    if rank_words.SHOWS_RANK.search(ast.unparse(statement.test)) is None:
        return _one_decision(statement, at, source.text)
    return _without_rank(job, statement, decision, waiting) or usual


def _after_a_failure(at: str) -> Fix:
    return Fix(
        text=f"a rank that failed must not go on alone ({at}): set a flag there, all_reduce it (MAX) on every rank "
        "where the others wait, and let all of them skip, retry or raise together"
    )


def _equal_rounds(loop: ast.For | ast.AsyncFor, decision: DivergencePoint, at: str, source: str) -> Fix:
    items = _gone_over(loop.iter)
    over = _words(items, source)
    if decision.tainted_by == ORDER:
        return Fix(text=f"go over sorted({over or '...'}) at {at}: a set has an order of its own in each process")
    if not LOADER_NAMES.search(over):
        which = over or "what it goes over"
        return Fix(text=f"let the loop of {at} go over the same items on every rank: {which} differs between them")
    return Fix(
        text=f"let the loop of {at} run equally often on every rank: equal shares of the data (a DistributedSampler, "
        f"drop_last), or agree on the least before it, n = torch.tensor({_count(items)}); dist.all_reduce(n, "
        "op=dist.ReduceOp.MIN), and stop there"
    )


def _count(items: ast.expr) -> str:
    if isinstance(items, ast.Call) and ast.unparse(items.func) == "range" and len(items.args) == 1:
        return ast.unparse(items.args[0])
    return f"len({ast.unparse(items)})"


def _one_decision(statement: ast.If | ast.While, at: str, source: str) -> Fix:
    test = _words(statement.test, source)
    if not test:
        return Fix(text=f"let all ranks decide alike at {at}: all_reduce the outcome of its test (MAX), and test that")
    return Fix(
        text=f"let all ranks decide alike at {at}: write agreed = torch.tensor(int(bool({test}))), "
        "dist.all_reduce(agreed, op=dist.ReduceOp.MAX) (if any rank says so; MIN: if all do), and test agreed.item()"
    )


def _without_rank(
    job: Job, statement: ast.If | ast.While, decision: DivergencePoint, waiting: Sequence[RankState]
) -> Fix | None:
    """Returns what to do about a test of the rank: the call that stands under it goes out, or nobody leaves by it."""
    at = _at(job, decision.frame, statement)
    arms = [_calls_in(job, decision.frame.file, arm, waiting) for arm in (statement.body, statement.orelse)]
    calls = " and ".join(sorted(arms[0] | arms[1]))
    if calls and not (arms[0] and arms[1]) and (forward := _wrapped_forward(job, waiting)):
        return Fix(
            text=f"call the module itself at {forward} (model.module): DistributedDataParallel sends buffers to every "
            f"rank in each forward, and only some ranks make this one, by the test of {at}"
        )
    if arms[0] and arms[1]:
        return Fix(text=f"make one and the same call on all ranks, in place of {calls} in the two arms of {at}")
    if calls:
        return Fix(
            text=f"take {calls} out of the test of {at}: every rank has to make it; keep under the test only what "
            "writes or prints"
        )
    left = next((one for one in _inner(statement.body) if isinstance(one, _JUMPS)), None)
    if left is None:
        return None
    return Fix(
        text=f"let no rank leave by the test of {at} (line {left.lineno}): every rank has to come to the call in "
        "which the others wait"
    )


def _calls_in(job: Job, file: str, arm: Sequence[ast.stmt], waiting: Sequence[RankState]) -> set[str]:
    """Returns "barrier() at train.py:31" for the calls under an arm of a test in which ranks wait, below its lines."""
    lines = range(arm[0].lineno, (arm[-1].end_lineno or arm[-1].lineno) + 1) if arm else range(0)
    return {
        f"{_called(rank.wait)} at {job.line(frame)}"
        for rank in waiting
        for frame in user_stack(job, rank)
        if rank.wait is not None and rank.wait.kind is OperationKind.COLLECTIVE
        if frame.file == file and frame.line in lines
    }


def _called(wait: PendingOperation) -> str:
    return f"{wait.op}()" if wait.op and not wait.native else "what is exchanged"


def _wrapped_forward(job: Job, waiting: Sequence[RankState]) -> str:
    """Returns the line whose forward waits in the exchange of a wrapper's buffers; "" where no rank does."""
    for rank in waiting:
        stack = rank.wait.path if rank.wait is not None else ()
        if any(frame.function.endswith(_SENDS_BUFFERS) for frame in stack):
            return job.line(user_stack(job, rank)[0])
    return ""


def _at(job: Job, frame: Frame, statement: ast.stmt) -> str:
    return job.line(replace(frame, line=statement.lineno))


def _condition_around(job: Job, frame: Frame) -> ast.If | ast.While | None:
    """Returns the innermost test under which a jump stands."""
    function = job.sources.file(frame.file).function_at(frame.line)
    tree = function or job.sources.file(frame.file).tree
    if tree is None:
        return None
    around = [
        one
        for one in ast.walk(tree)
        if isinstance(one, (ast.If, ast.While)) and one.lineno <= frame.line <= (one.end_lineno or one.lineno)
    ]
    return max(around, key=lambda one: one.lineno, default=None)


def _gone_over(iterated: ast.expr) -> ast.expr:
    while isinstance(iterated, ast.Call) and iterated.args:
        name = ast.unparse(iterated.func).rpartition(".")[2]
        if name not in _PASSED_THROUGH:
            break
        iterated = iterated.args[0]
    return iterated


def _words(value: ast.expr, source: str) -> str:
    words = ast.get_source_segment(source, value) or ""
    plain = not any(isinstance(one, (ast.NamedExpr, ast.Await, ast.Yield)) for one in ast.walk(value))
    return words if plain and len(words) <= MOST_WORDS and "\n" not in words else ""


def _inner(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for one in body:
        yield from ast.walk(one)
