"""One decision after which ranks pass different operations. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.static.dataflow.rank_predicates import ConcreteRank
from diagnostics.static.dataflow.taint_sources import Taint
from diagnostics.static.program import exit_calls
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.collective_sites import CollectiveSite, SyncKind
from diagnostics.static.spmd.sequence_values import CollectiveSequence

Branch = ast.If | ast.While | ast.IfExp

Asking = tuple[Branch, tuple[ConcreteRank, ConcreteRank]]


_MODES = {"training", "is_training"}
_OF_TYPES = {"isinstance", "hasattr", "callable", "issubclass"}

_INTERRUPTS = ("Interrupt", "Exit", "Stop")  # by a person, or by the program on all ranks
# Errors that come on every rank or on none: of the installation, of the user.
_EVEN_ERRORS = {
    "ImportError", "ModuleNotFoundError", "KeyboardInterrupt", "SystemExit", "AttributeError", "NameError",
    "NotImplementedError", "TypeError", "GeneratorExit", "LookupError", "AssertionError",
}  # fmt: skip


class DivergenceShape(StrEnum):
    """How a decision parts the ranks."""

    ARM = "arm"  # the operation stands in one of its arms
    EXIT = "exit"  # one arm leaves before the operation
    LOOP = "loop"  # one rank goes round more often
    HANDLER = "handler"  # the operation stands in an except branch
    SKIPPED = "skipped"  # an exception on one rank skips the operation, and the rank goes on
    FINALLY = "finally"


@dataclass(frozen=True, kw_only=True, eq=False)
class DivergentBranch:
    """One decision that parts ranks. `here` is passed by those that decide one way, `there` by the others instead."""

    function: Function
    decision: ast.AST
    shape: DivergenceShape
    why: str  # a word of taint_sources
    here: CollectiveSite
    there: CollectiveSite | None
    ranks: tuple[ConcreteRank, ConcreteRank] | None = None  # two that differ, where the test asks for the rank
    taint: Taint | None = None
    exit: ast.stmt | None = None

    @property
    def line(self) -> int:
        """The decision's line."""
        return int(getattr(self.decision, "lineno", 1))


def unmatched(
    parted: list[tuple[Asking, CollectiveSequence, CollectiveSequence]],
) -> Iterator[tuple[Asking, CollectiveSequence, CollectiveSequence]]:
    """Yields the branches but those of which one gives a rank what another one, before or after, gives the other."""
    open_ = list(parted)
    for one in parted:
        opposite = (one[2].items, one[1].items)
        match = next((two for two in open_ if two is not one and (two[1].items, two[2].items) == opposite), None)
        if one in open_ and match is not None:
            open_ = [two for two in open_ if two is not one and two is not match]
    yield from open_


def falls_alike(test: ast.expr) -> bool:
    """Whether a test asks for a model's mode or for types: ranks run one program, in which these are the same."""
    asked = test.operand if isinstance(test, ast.UnaryOp) else test
    return last_name(test) in _MODES or (isinstance(asked, ast.Call) and last_name(asked.func) in _OF_TYPES)


def strongest(reaches: Iterable[CollectiveSite]) -> CollectiveSite | None:
    """Returns the operation in which it is surest that ranks meet."""
    return max(reaches, key=lambda one: (one.sure, one.meeting is not SyncKind.FORWARD), default=None)


def calls_in(block: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yields the calls of a block, without those of functions inside."""
    waiting: list[ast.AST] = list(block)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(node, ast.Call):
            yield node
        waiting += children(node)


def nodes_of(block: Sequence[ast.AST]) -> set[int]:
    """Returns the ids of all nodes of a block."""
    return {id(node) for one in block for node in walk(one)}


def leaving(block: Sequence[ast.stmt]) -> ast.stmt | None:
    """Returns the statement by which a block is always left, None where control goes on behind it."""
    for statement in block:
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return statement
        ends = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        if ends and ast.unparse(statement).partition("(")[0] in exit_calls.LEAVING:
            return statement
    return None


def leaves_inside(block: list[ast.stmt]) -> ast.stmt | None:
    """Returns a statement in an arm by which the function or the round may be left."""
    for statement in block:
        if isinstance(statement, ast.If):
            found = (
                leaving(statement.body)
                or leaving(statement.orelse)
                or leaves_inside([*statement.body, *statement.orelse])
            )
            if found is not None:
                return found
        elif isinstance(statement, (ast.With, ast.Try)):
            found = leaving(statement.body) or leaves_inside(statement.body)
            if found is not None:
                return found
        elif leaving([statement]) is not None:
            return statement
    return None


def used_by_with(function: Function, project: Project) -> Iterator[tuple[list[ast.stmt], Function]]:
    """Yields the blocks that stand under `with` on a context manager of the project."""
    for call, caller in project.callers(function):
        parents = project.file_with(caller).parents
        block = parents.get(parents.get(call, call))
        if isinstance(block, (ast.With, ast.AsyncWith)):
            yield block.body, caller


def comes_on_all(handler: ast.ExceptHandler) -> bool:
    """Whether what a handler catches comes on every rank or on none."""
    caught = handler.type
    names = [last_name(one) for one in (caught.elts if isinstance(caught, ast.Tuple) else [caught] if caught else [])]
    return bool(names) and all(name in _EVEN_ERRORS or name.endswith(_INTERRUPTS) for name in names)
