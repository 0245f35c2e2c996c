"""A collective in an except branch: only the rank that failed comes there.

What it does: flags `except` branches, and what they call, that make ranks meet; and collectives in `finally` beside a
`try` that has some of its own.

Why it matters: an out-of-memory error, a bad sample or a full disk comes on one rank. Its handler broadcasts "skip this
batch", while the other ranks are in the all-reduce of their backward: two different operations meet, and all hang.

Bad:

    try:
        loss = step(batch)
    except torch.OutOfMemoryError:
        dist.broadcast(skip, src=0)

Good:

    try:
        loss, failed = step(batch), 0
    except torch.OutOfMemoryError:
        loss, failed = None, 1
    if agree(failed):        # every rank comes here: all_reduce(MAX)
        continue

What it cannot see: exceptions that come on every rank at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import MOST_CALLS, hit_of, operation, partings
from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.divergent_branch import DivergenceShape, DivergentBranch

CODE = "A207"
NAME = "collective-in-except"
SEVERITY = Severity.ERROR
WORDS = ("except", "finally")
CHECKLIST = "no collective in except or finally"
_LOADS = {"load", "open", "read", "load_state_dict", "load_from_disk", "read_text", "from_pretrained"}
_BESIDE = {"print", "info", "join", "Path", "get", "str", "format"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the except and finally branches with a collective in them."""
    for one in partings(file, project, DivergenceShape.HANDLER, DivergenceShape.FINALLY):
        handler = one.shape is DivergenceShape.HANDLER
        told = "an except branch: only a rank that failed comes here" if handler else (
            "finally: a rank that failed comes here from elsewhere than the others")  # fmt: skip
        yield hit_of(
            one, file, project,
            f"{operation(one.here)} in {told}, while the others wait in another operation",
            "note the failure in a flag, leave the branch, and let every rank agree on the flag after it",
            sure=_certainty(one, file, project),
        )  # fmt: skip


def _certainty(one: DivergentBranch, file: ProjectFile, project: Project) -> Confidence:
    """CONFIRMED where the block does work of the rank's own, which can fail on one rank alone."""
    if one.shape is DivergenceShape.FINALLY:
        return Confidence.POSSIBLE if len(one.here.chain) > 1 else Confidence.LIKELY
    attempt = file.parents.get(one.decision)
    calls = [node for part in getattr(attempt, "body", []) for node in walk(part) if isinstance(node, ast.Call)]
    own = [call for call in calls if not project.name(call.func, one.function).startswith("torch.distributed.")]
    if _lets_others_go(one):
        return Confidence.POSSIBLE
    if _waits_for_work(one.decision):
        return Confidence.POSSIBLE  # how a server takes what has come
    around = _runs_around_others(one, attempt)
    if not (own or around) or len(one.here.chain) > MOST_CALLS or (_only_loads(own) and not around):
        return Confidence.POSSIBLE  # it fails on every rank or on none
    return Confidence.CONFIRMED if one.here.sure and own else Confidence.LIKELY


def _runs_around_others(one: DivergentBranch, attempt: ast.AST | None) -> bool:
    """Whether the block is where a context manager hands over: what fails is the work of whoever uses it."""
    decorators = getattr(one.function.syntax, "decorator_list", ())
    managed = any(last_name(each) in ("contextmanager", "asynccontextmanager") for each in decorators)
    return managed and any(isinstance(node, ast.Yield) for part in getattr(attempt, "body", []) for node in walk(part))


def _only_loads(own: list[ast.Call]) -> bool:
    """Whether a block does nothing but read files whose names do not ask for the rank: all ranks have them or none."""
    loads = [one for one in own if last_name(one.func) in _LOADS]
    texts = " ".join(ast.unparse(one) for one in loads)
    return bool(loads) and all(last_name(one.func) in _LOADS | _BESIDE for one in own) and "rank" not in texts


def _waits_for_work(handler: ast.AST) -> bool:
    """Whether what is caught says that a queue is empty."""
    caught = getattr(handler, "type", None)
    return caught is not None and any(getattr(one, "attr", getattr(one, "id", "")) == "Empty" for one in walk(caught))


def _lets_others_go(one: DivergentBranch) -> bool:
    """Whether a rank that failed meets the others in the barrier that they come to next, and then raises."""
    handler, call = one.decision, one.here.chain[0][0]
    body = getattr(handler, "body", [])
    if one.here.op != "barrier" or not body or not isinstance(body[-1], ast.Raise):
        return False
    name = ast.unparse(call.func)
    return any(
        isinstance(node, ast.Call) and node.lineno > (body[-1].end_lineno or 0) and ast.unparse(node.func) == name
        for node in one.function.nodes_of(ast.Call)
    )
