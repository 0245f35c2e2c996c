"""The calls of torch.distributed in a project, and what they pass as tensor, root, operator and group. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.agent.shared import operations
from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import argument
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

_HOME = "torch.distributed."
_WORLDS = ("WORLD", "world", "_get_default_group")


@dataclass(frozen=True, slots=True, eq=False)
class CollectiveCallSite:
    """One call of an operation, with the function it is in."""

    op: str
    call: ast.Call
    function: Function

    def argument(self, name: str) -> ast.expr | None:
        """Returns what is passed for a parameter, None where nothing is."""
        return argument(self.call, name, operations.PARAMETERS[self.op])

    @property
    def grouped(self) -> bool:
        """Whether a group is named that may be another one than the world, or roots are counted within a group."""
        if any(one.arg in ("group_src", "group_dst", None) for one in self.call.keywords):
            return True
        return not is_world(self.argument(operations.GROUP.get(self.op, "group")))


def is_world(group: ast.expr | None) -> bool:
    """Whether a group argument means every rank."""
    if group is None or (isinstance(group, ast.Constant) and group.value is None):
        return True
    return last_name(group) in _WORLDS


def operation_call(call: ast.Call, function: Function, project: Project) -> CollectiveCallSite | None:
    """Returns a call as an operation of torch.distributed, None where it is none."""
    name = project.name(call.func, function)
    op = name[len(_HOME) :] if name.startswith(_HOME) else ""
    return CollectiveCallSite(op, call, function) if op in operations.PARAMETERS else None


def operation_calls(file: ProjectFile, project: Project) -> Iterator[CollectiveCallSite]:
    """Yields the operations that one file calls, in the order of its lines."""
    found = (operation_call(call, function, project) for call, function in project.calls_in(file))
    yield from sorted((one for one in found if one is not None), key=lambda one: (one.call.lineno, one.call.col_offset))


def asks_for_rank(test: ast.AST, function: Function, tests: RankPredicates) -> bool:
    """Whether a test has to do with some rank: one that can be worked out, or any name that speaks of one."""
    if isinstance(test, ast.expr) and tests.asks(test, function) is not None:
        return True
    return any(source_of(node) == RANK or rank_words.MENTIONS_RANK.search(_named(node)) for node in walk(test))


def under_rank_test(node: ast.AST, function: Function, file: ProjectFile, tests: RankPredicates) -> bool:
    """Whether a node stands in a branch about the rank, or behind one that some ranks left by."""
    below, around = node, file.parents.get(node)
    while around is not None and below is not function.syntax:
        test = around.test if isinstance(around, (ast.If, ast.IfExp, ast.While)) else None
        if test is not None and below is not test and asks_for_rank(test, function, tests):
            return True
        if isinstance(around, ast.BoolOp) and any(asks_for_rank(one, function, tests) for one in around.values):
            return True
        for block in (getattr(around, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list) and below in block:
                before = block[: block.index(below)]
                if any(_some_leave(one, function, tests) for one in before):
                    return True
        below, around = around, file.parents.get(around)
    return False


def _some_leave(statement: ast.AST, function: Function, tests: RankPredicates) -> bool:
    if not isinstance(statement, ast.If) or not asks_for_rank(statement.test, function, tests):
        return False
    kinds = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    return any(isinstance(node, kinds) for part in (*statement.body, *statement.orelse) for node in walk(part))


def _named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
