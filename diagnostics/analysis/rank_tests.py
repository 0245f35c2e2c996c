"""What a test says about the rank: "is it rank 0", "are there several ranks"; True or False under an assumption. Pure."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from diagnostics.analysis.flow_files import Function, last_name
from diagnostics.analysis.project import Project
from diagnostics.analysis.taint_sources import RANK, source_of

MAIN = "rank 0"
LOCAL_MAIN = "local rank 0"
_ROUNDS = 4
_BOOLEAN = re.compile(r"^_?is_|^(?:main|master)_process$|_process_zero$|^should_|^_?on_main", re.IGNORECASE)
_LOCAL = re.compile(r"local|node", re.IGNORECASE)
_OTHERS = re.compile(r"(?:last|group|pipeline|stage|model|tensor|data|dp|tp|pp|mp|ep|cp|sp|expert|seq|replica)", re.IGNORECASE)
_WORLD = re.compile(r"^(?:get_)?(?:world|dist|num|n)_?(?:size|world|processes|ranks|gpus|replicas)$|^num_processes$"
                    r"|^world_?size$|^ngpus?(?:_per_node)?$", re.IGNORECASE)  # fmt: skip
_DISTRIBUTED = re.compile(
    r"^(?:is_)?(?:_?use_)?(?:distributed|ddp|dist)(?:_(?:is_)?(?:initialized|available|enabled|run|training|mode))*$"
    r"|^is_initialized$|^is_available$|^is_dist_\w+$|^is_(?:torch_)?distributed\w*$|^multi_?gpu$|^is_torchelastic_launched$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RankTest:
    """A test that is `positive` about `what`: rank 0, local rank 0, or another statement about the rank."""

    what: str
    positive: bool

    def negated(self) -> RankTest:
        """Returns the opposite statement."""
        return RankTest(self.what, not self.positive)


@dataclass(frozen=True, slots=True)
class RankTests:
    """Reads tests of a project."""

    project: Project

    def of(self, test: ast.expr, function: Function, rounds: int = _ROUNDS) -> RankTest | None:
        """Returns what a test says about the rank, None where it says nothing of it, or more than one thing."""
        if rounds < 0:
            return None
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.of(operand, function, rounds)
                return inner.negated() if inner is not None else None
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(left, op, right, function)
            case ast.Name():
                return self._named(test, function, rounds)
            case ast.Attribute():
                return self._flag(test.attr, test)
            case ast.Call():
                return self._call(test, function, rounds)
            case ast.NamedExpr():
                return self.of(test.value, function, rounds)
            case _:
                return None

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr, function: Function) -> RankTest | None:
        what = self._rank(left, function)
        if not what:
            what, left, right = self._rank(right, function), right, left
        if not what:
            return None
        values = _numbers(right)
        if values is not None and set(values) <= {-1, 0} and 0 in values:
            if isinstance(op, (ast.Eq, ast.In, ast.Is, ast.LtE)):
                return RankTest(what, True)
            if isinstance(op, (ast.NotEq, ast.NotIn, ast.IsNot, ast.Gt)):
                return RankTest(what, False)
        if isinstance(op, ast.Lt) and values == [1]:
            return RankTest(what, True)
        if isinstance(op, ast.GtE) and values == [1]:
            return RankTest(what, False)
        if isinstance(op, (ast.Eq, ast.NotEq)):
            return RankTest(f"{what} compared with {ast.unparse(right)}", isinstance(op, ast.Eq))
        return RankTest(f"{what}: {ast.unparse(right)} {type(op).__name__}", True)

    def _rank(self, value: ast.expr, function: Function) -> str:
        """Returns whether a value is the rank: "rank 0" stands for questions about the global one."""
        if isinstance(value, ast.Call) and last_name(value.func) in ("int", "get_rank", "get_local_rank"):
            name = last_name(value.func)
            if name == "int":
                return self._rank(value.args[0], function) if value.args else ""
            grouped = bool(value.args or value.keywords) and not name.startswith("get_local")
            return ("rank in a group" if grouped else LOCAL_MAIN if "local" in name else MAIN)
        if isinstance(value, (ast.Subscript, ast.Call)):
            words = [one.value for one in ast.walk(value) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            ranks = [word for word in words if word.endswith(("RANK", "PROCID", "LOCALID"))]
            return (LOCAL_MAIN if "LOCAL" in ranks[0] else MAIN) if ranks else ""
        if isinstance(value, (ast.Name, ast.Attribute)) and source_of(value) == RANK:
            name = last_name(value)
            if _BOOLEAN.search(name):
                return ""
            if _LOCAL.search(name):
                return LOCAL_MAIN
            return f"{name}" if _OTHERS.search(name.lower().replace("_rank", "")) else MAIN
        if isinstance(value, ast.Name) and len(function.assigned.get(value.id, ())) == 1:
            inner = function.assigned[value.id][0]
            return self._rank(inner, function) if isinstance(inner, (ast.Call, ast.Subscript)) else ""
        return ""

    def _named(self, test: ast.Name, function: Function, rounds: int) -> RankTest | None:
        scope: Function | None = function
        while scope is not None:
            if test.id in scope.assigned:
                values = scope.assigned[test.id]
                if len(values) == 1:
                    found = self.of(values[0], scope, rounds - 1)
                    if found is not None:
                        return found
                break
            if test.id in scope.parameters:
                break
            scope = scope.outer
        return self._flag(test.id, test)

    def _flag(self, name: str, test: ast.expr) -> RankTest | None:
        if source_of(test) != RANK:
            return None
        if _BOOLEAN.search(name):
            return RankTest(LOCAL_MAIN if _LOCAL.search(name) else MAIN, True)
        what = self._rank(test, _NOWHERE) if _NOWHERE is not None else MAIN
        return RankTest(what or MAIN, False)  # `if rank:` is true on all but rank 0

    def _call(self, call: ast.Call, function: Function, rounds: int) -> RankTest | None:
        for target in self.project.targets(call, function):
            returned = [node.value for node in target.own_nodes if isinstance(node, ast.Return) and node.value]
            for value in reversed(returned):
                found = self.of(value, target, rounds - 1)
                if found is not None:
                    return found
        name = last_name(call.func)
        if source_of(call) == RANK and _BOOLEAN.search(name):
            return RankTest(LOCAL_MAIN if _LOCAL.search(name) else MAIN, True)
        what = self._rank(call, function)
        return RankTest(what, False) if what and name.endswith("rank") else None


_NOWHERE: Function = Function.__new__(Function)  # a scope in which no name is known
_NOWHERE.__dict__.update(assigned={}, parameters=(), outer=None)


def says_distributed(test: ast.expr) -> bool | None:
    """Returns what a test comes to where several ranks run and the group exists: None where it does not ask that."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = says_distributed(operand)
            return None if inner is None else not inner
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=int() as number)]):
            if not _WORLD.match(last_name(left)):
                return None
            return _against_many(op, number)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
            if last_name(left) in ("dist", "distributed"):
                return isinstance(op, ast.IsNot)
            return None
        case ast.Name() | ast.Attribute() | ast.Call():
            name = last_name(test)
            return True if _DISTRIBUTED.match(name) and not name.startswith("is_available_") else None
        case _:
            return None


def _against_many(op: ast.cmpop, number: int) -> bool | None:
    """Returns whether "two or more" compares so with a number."""
    if number <= 1:
        match op:
            case ast.Gt() | ast.NotEq():
                return True
            case ast.Eq() | ast.LtE():
                return False
            case ast.GtE():
                return True
    if number == 2 and isinstance(op, ast.Lt):  # noqa: PLR2004 (two ranks)
        return False
    return None


def _numbers(value: ast.expr) -> list[int] | None:
    """Returns the whole numbers of a literal: 0, -1, (0, -1)."""
    try:
        read = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    values = list(read) if isinstance(read, (list, tuple, set)) else [read]
    return values if all(isinstance(one, int) and not isinstance(one, bool) for one in values) and values else None
