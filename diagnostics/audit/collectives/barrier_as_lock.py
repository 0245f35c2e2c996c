"""A barrier used as if it were a lock: it lets every rank in at the same time.

What it does: flags a file that every rank writes under one and the same path right behind or before a barrier, with no
test of the rank around it. CONFIRMED where a barrier stands on both sides and the path is spelled out.

Why it matters: a barrier makes the ranks start together, so that all of them open and write the file in the same
moment. What is left is a mixture, or the file of whoever came last; readers see half of it.

Bad:

    dist.barrier()
    torch.save(state, "last.pt")
    dist.barrier()

Good:

    if dist.get_rank() == 0:
        torch.save(state, "last.pt")
    dist.barrier()

or one after the other, which is slow:

    for turn in range(dist.get_world_size()):
        if turn == dist.get_rank():
            append_to_report()
        dist.barrier()

What it cannot see: a path that is another one on each machine, and writes inside functions that are called here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_dependent, is_rank_guarded, reaching_values
from diagnostics.static.dataflow.rank_predicates import ConcreteRank, RankPredicates
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.own_nodes import statements_of
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import operation_call

CODE = "A214"
NAME = "barrier-as-lock"
SEVERITY = Severity.ERROR
WORDS = ("barrier", "wait_for_everyone")
CHECKLIST = "files that all ranks share are written by one of them"
# Functions by the place of the path among their arguments.
_WRITERS = {"torch.save": 1, "numpy.save": 0, "numpy.savez": 0, "open": 0, "pickle.dump": -1}
_WRITING_METHODS = {"write_text": 0, "write_bytes": 0, "to_csv": 1, "to_json": 1, "to_parquet": 1}
_OWN = re.compile(
    r"tempfile|mkstemp|mkdtemp|uuid|getpid|hostname|time\(|now\(|node|local|worker|shard|part[_-]", re.IGNORECASE
)
_SETTINGS = ("args", "cfg", "config", "opt", "opts", "options", "hparams", "flags", "os")  # the same on every rank
_FIXED = (ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.Add, ast.Div, ast.Mod, ast.Attribute,
          ast.Name, ast.Call)  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the writes that a barrier is meant to protect."""
    for function in project.functions_in(file):
        for block in _blocks(function):
            for at, statement in enumerate(block):
                before = at > 0 and _is_barrier(block[at - 1], function, project)
                after = at + 1 < len(block) and _is_barrier(block[at + 1], function, project)
                if (before or after) and not _is_barrier(statement, function, project):
                    sides = [*(block[at - 1 : at] if before else ()), *(block[at + 1 : at + 2] if after else ())]
                    yield from _shared_writes(statement, sides, function, file, project)
            yield from _swapped(block, function, file, project)


def _swapped(block: list[ast.stmt], function: Function, file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields "the first rank does it, the others wait" whose halves are the wrong way round."""
    halves = [at for at, one in enumerate(block) if isinstance(one, ast.If) and not one.orelse
              and len(one.body) == 1 and _is_barrier(one.body[0], function, project)]  # fmt: skip
    tests = RankPredicates(project)
    for first, second in pairwise(halves):
        waits = [[tests.truth(block[at].test, function, ConcreteRank(rank)) for rank in (0, 1)]  # type: ignore[attr-defined]
                 for at in (first, second)]  # fmt: skip
        between = block[first + 1 : second]
        if waits != [[True, False], [False, True]] or not any(_makes(one, function, project) for one in between):
            continue
        yield violation(
            file,
            block[first],
            "rank 0 waits here, and all the other ranks do at once what one rank is to do before them",
            "the other way round: `if rank != 0: barrier()` before it, `if rank == 0: barrier()` behind it",
            steps=(
                step(file, between[0], "the other ranks come here together"),
                step(file, block[second], "and let rank 0 go on when they have done it"),
            ),
            confidence=Confidence.LIKELY,
        )


def _makes(statement: ast.stmt, function: Function, project: Project, depth: int = 2) -> bool:
    """Whether a statement writes a file, also in a function that it calls, or hands over to a `with` block."""
    for node in walk(statement):
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, ast.Call):
            if _written(node, function, project) is not None:
                return True
            for target in project.targets(node, function)[:3] if depth else ():
                if any(_makes(one, target, project, depth - 1) for one in statements_of(target.syntax)):
                    return True
    return False


def _shared_writes(
    statement: ast.stmt, barriers: list[ast.stmt], function: Function, file: ProjectFile, project: Project
) -> Iterator[Violation]:
    if not isinstance(statement, (ast.Expr, ast.With)) or "lock" in ast.unparse(statement).lower():
        return
    for call in (node for node in walk(statement) if isinstance(node, ast.Call)):
        path = _written(call, function, project)
        if path is None or is_rank_guarded(call, function, project) or _is_own(path, function, project):
            continue
        sure = len(barriers) == 2 and _is_spelled_out(path, function)
        yield violation(
            file, call,
            f"every rank writes {ast.unparse(path)} at the same time: a barrier lets all of them in at once",
            "let one rank write: if dist.get_rank() == 0: ..., then the barrier; or put the rank into the path",
            steps=tuple(step(file, one, "all ranks go on from here together") for one in barriers),
            confidence=Confidence.CONFIRMED if sure else Confidence.LIKELY,
        )  # fmt: skip


def _blocks(function: Function) -> Iterator[list[ast.stmt]]:
    others = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in (function.syntax, *(one for one in function.own_nodes if not isinstance(one, others))):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _is_barrier(statement: ast.stmt, function: Function, project: Project) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    found = operation_call(call, function, project)
    if found is not None:
        return found.op == "barrier" and not found.grouped
    return last_name(call.func) == "wait_for_everyone"


def _written(call: ast.Call, function: Function, project: Project) -> ast.expr | None:
    """Returns the path that a call writes to, None where it writes none."""
    name = project.name(call.func, function)
    if name == "open":
        mode = (
            call.args[1]
            if len(call.args) > 1
            else next((one.value for one in call.keywords if one.arg == "mode"), None)
        )
        if not isinstance(mode, ast.Constant) or not str(mode.value).startswith(("w", "x")):
            return None
    at = _WRITERS.get(name, -1)
    if 0 <= at < len(call.args):
        return call.args[at]
    if isinstance(call.func, ast.Attribute) and call.func.attr in _WRITING_METHODS:
        if _WRITING_METHODS[call.func.attr] == 0:
            return call.func.value
        return call.args[0] if call.args else None
    return None


def _is_own(path: ast.expr, function: Function, project: Project, rounds: int = 3) -> bool:
    """Whether a path may be another one on each rank, or no path at all."""
    if is_rank_dependent(path, function, project) or _OWN.search(ast.unparse(path)):
        return True
    for node in walk(path):
        if isinstance(node, ast.Name) and rounds and node.id not in _SETTINGS:
            made = list(reaching_values(node, function, project))
            if not made and node.id in function.parameters:
                return True  # nobody is seen to call it
            if any(_is_own(value, where, project, rounds - 1) for value, where in made):
                return True
        elif isinstance(node, ast.Call) and project.targets(node, function):
            return True
        elif isinstance(node, ast.Attribute) and last_name(node.value) == "self":
            made = project.attribute_values(node, function)
            if not made or any(_is_own(value, where, project, rounds - 1) for value, where in made if rounds):
                return True
    return "Buffer" in ast.unparse(path) or any("BytesIO" in ast.unparse(one) for one in _made(path, function))


def _made(path: ast.expr, function: Function) -> list[ast.expr]:
    return function.assigned.get(path.id, []) if isinstance(path, ast.Name) else []


def _is_spelled_out(path: ast.expr, function: Function) -> bool:
    values = [path, *_made(path, function)]
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) for one in values for node in walk(one)
    ) and all(isinstance(node, (*_FIXED, ast.expr_context)) for one in values for node in walk(one))
