"""How tests fall on a given rank: `rank == 0`, `is_main()`, `rank % 2`, as far as that is seen. Pure.

Tests about other ranks than the job's own (of a pipeline stage, of a tensor-parallel group) are left open.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, default_of, last_name
from diagnostics.static.program.project import Project

_ROUNDS = 5
_BOOLEAN = re.compile(r"^_?is_|^(?:main|master)_process$|_process_zero$", re.IGNORECASE)
COMMON_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.eq, ast.IsNot: operator.ne,
    ast.In: lambda one, several: one in several, ast.NotIn: lambda one, several: one not in several,
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv, ast.BitAnd: operator.and_, ast.BitXor: operator.xor,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ConcreteRank:
    """One rank of a job of `world` ranks on one machine."""

    rank: int
    world: int = 2


class Open:
    """A value that is not known."""


OPEN = Open()


class _KnownValues(dict[tuple[int, int, int, int, int], tuple[ast.expr, Any]]):
    """What was worked out for a project: by expression, function, rank, world and the rounds that were left."""

    def __init__(self, project: Project) -> None:
        super().__init__()


@dataclass(frozen=True, slots=True)
class RankPredicates:
    """Works out tests of a project."""

    project: Project

    def truth(self, test: ast.expr, function: Function, on: ConcreteRank) -> bool | None:
        """Returns how a test falls on a rank, None where that is open."""
        value = self.value(test, function, on)
        return None if isinstance(value, Open) else bool(value)

    def asks(self, test: ast.expr, function: Function) -> tuple[ConcreteRank, ConcreteRank] | None:
        """Returns two ranks on which a test falls differently, None where it does not ask for the rank.

        Of `rank == 0 and step % 10 == 0` it is enough that one of the two answers is known.
        """
        for ranks in (
            (ConcreteRank(0), ConcreteRank(1)),
            (ConcreteRank(0, 4), ConcreteRank(3, 4)),
            (ConcreteRank(0, 4), ConcreteRank(2, 4)),
        ):
            one, other = (self.truth(test, function, on) for on in ranks)
            if one is not other:
                return ranks
        return None

    def same(self, test: ast.expr, function: Function) -> bool:
        """Whether a test is known to fall alike on all ranks: `RANK == -1` asks whether there are several."""
        first = self.truth(test, function, ConcreteRank(0))
        return first is not None and first == self.truth(test, function, ConcreteRank(1))

    def differs(self, expression: ast.expr, function: Function) -> bool:
        """Whether an expression is known to come to another value on rank 1 than on rank 0."""
        first = self.value(expression, function, ConcreteRank(0))
        return first is not OPEN and first != self.value(expression, function, ConcreteRank(1))

    def value(self, expression: ast.expr, function: Function, on: ConcreteRank, rounds: int = _ROUNDS) -> Any:
        """Returns what an expression comes to on a rank, OPEN where that is not known; worked out once."""
        if rounds < 0:
            return OPEN
        known = self.project.fact(_KnownValues)
        key = (id(expression), id(function), on.rank, on.world, rounds)
        if key not in known:  # the expression is kept, so that its identity stays its own
            known[key] = expression, self._value(expression, function, on, rounds)
        return known[key][1]

    def _value(self, expression: ast.expr, function: Function, on: ConcreteRank, rounds: int) -> Any:
        match expression:
            case ast.Constant(value=int() | str() | bool() | None as literal):
                return literal
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                values = [self.value(one, function, on, rounds) for one in parts]
                return values if values and OPEN not in values else OPEN  # what starts empty may be filled
            case ast.UnaryOp():
                return self._unary(expression, function, on, rounds)
            case ast.BinOp():
                left = self.value(expression.left, function, on, rounds)
                return _applied(expression.op, left, self.value(expression.right, function, on, rounds))
            case ast.BoolOp():
                return self._boolean(expression, function, on, rounds)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(left, op, right, function, on, rounds)
            case ast.Name():
                return self._name(expression, function, on, rounds)
            case ast.Attribute():
                return self._attribute(expression, function, on, rounds)
            case ast.Call():
                return self._call(expression, function, on, rounds)
            case ast.Subscript():
                return self._variable(expression, on)
            case ast.NamedExpr():
                return self.value(expression.value, function, on, rounds)
            case ast.IfExp():
                test = self.value(expression.test, function, on, rounds)
                if test is OPEN:
                    return OPEN
                return self.value(expression.body if test else expression.orelse, function, on, rounds)
            case _:
                return OPEN

    def _unary(self, expression: ast.UnaryOp, function: Function, on: ConcreteRank, rounds: int) -> Any:
        value = self.value(expression.operand, function, on, rounds)
        if value is OPEN:
            return OPEN
        if isinstance(expression.op, ast.Not):
            return not value
        return -value if isinstance(expression.op, ast.USub) and isinstance(value, int) else OPEN

    def _boolean(self, expression: ast.BoolOp, function: Function, on: ConcreteRank, rounds: int) -> Any:
        ending = isinstance(expression.op, ast.Or)
        values = [self.value(one, function, on, rounds) for one in expression.values]
        if any(one is not OPEN and bool(one) is ending for one in values):
            return ending
        return OPEN if any(one is OPEN for one in values) else not ending

    def _compared(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, function: Function, on: ConcreteRank, rounds: int
    ) -> Any:
        if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None:
            known = self.value(left, function, on, rounds)
            return OPEN if known is OPEN else isinstance(op, ast.IsNot)
        one, other = self.value(left, function, on, rounds), self.value(right, function, on, rounds)
        if on.world > 1 and other == 1 and rank_words.WORLD_SIZE.match(last_name(left)):
            return _applied(op, max(2, on.world), 1)  # whatever the name of the count: there are several
        return _applied(op, *(_as_text(one, other) if isinstance(op, (ast.Eq, ast.NotEq)) else (one, other)))

    def _name(self, name: ast.Name, function: Function, on: ConcreteRank, rounds: int) -> Any:
        if self.project.meant(name, function):
            return True  # `if is_main_process:` asks for the function itself, which is there on every rank
        scope: Function | None = function
        while scope is not None:
            values = scope.assigned.get(name.id, ())
            if values:
                known = [self._assigned(one, scope, on, rounds) for one in values if one is not name]
                found = [one for one in known if one is not OPEN]
                if len(values) == 1 and found and name.id not in self.project.counted_in(scope):
                    return found[0]
                break
            if name.id in scope.parameters:
                known = self._by_name(name.id, name, on)
                return known if known is not OPEN else self._passed(name.id, scope, on, rounds)
            scope = scope.outer
        return self._by_name(name.id, name, on)

    def _assigned(self, value: ast.expr, function: Function, on: ConcreteRank, rounds: int) -> Any:
        """Returns what a name is assigned; of `rank, world = setup()` the parts are not known."""
        known = self.value(value, function, on, rounds - 1)
        return OPEN if isinstance(known, list) and isinstance(value, ast.Call) else known

    def _passed(self, name: str, function: Function, on: ConcreteRank, rounds: int) -> Any:
        """Returns what every caller passes for a parameter, its default where none passes any."""
        given = [self.value(value, caller, on, rounds - 2) for value, caller in self.project.arguments(name, function)]
        default = default_of(function, name)
        if not given and default is not None:
            return self.value(default, function, on, rounds - 1)
        return given[0] if given and all(one is not OPEN and one == given[0] for one in given) else OPEN

    def _attribute(self, value: ast.Attribute, function: Function, on: ConcreteRank, rounds: int) -> Any:
        known = self._by_name(value.attr, value, on)
        if known is not OPEN:
            return known
        assigned = self.project.attribute_values(value, function)
        if len(assigned) == 1 and value.attr not in self.project.set_by_others:
            return self.value(assigned[0][0], assigned[0][1], on, rounds - 1)
        for getter in self._properties(value, function):
            return self._returned(getter, on, rounds)
        return OPEN

    def _properties(self, value: ast.Attribute, function: Function) -> list[Function]:
        holders = [self.project.class_of(function)] if last_name(value.value) == "self" else []
        kinds = [one for one in holders if one is not None] or list(self.project.kinds(value.value, function, 2))
        found = [self.project.method(kind, value.attr) for kind in kinds]
        known = [one for one in found if one is not None and _is_property(one)]
        return known if len(known) == len(kinds) else []  # of another class it is another thing

    def _by_name(self, name: str, value: ast.expr, on: ConcreteRank) -> Any:
        if rank_words.DISTRIBUTED.match(name):
            return on.world > 1
        if rank_words.WORLD_SIZE.match(name):
            return on.world
        if source_of(value) != RANK or (rank_words.OF_SOMETHING_ELSE.search(name) and not _BOOLEAN.search(name)):
            return OPEN
        if re.search(r"last", name, re.IGNORECASE):
            return on.rank == on.world - 1
        return on.rank == 0 if _BOOLEAN.search(name) else on.rank

    def _call(self, call: ast.Call, function: Function, on: ConcreteRank, rounds: int) -> Any:
        name = last_name(call.func)
        if name in ("int", "bool") and len(call.args) == 1:
            return self.value(call.args[0], function, on, rounds)
        if name in ("get", "getenv"):
            return self._variable(call, on)
        if name == "field":  # of a data class
            kept = next((one.value for one in call.keywords if one.arg in ("default", "default_factory")), call)
            made = kept.body if isinstance(kept, ast.Lambda) else kept
            return self.value(made, function, on, rounds - 1) if made is not call else OPEN
        for target in self.project.targets(call, function):
            found = self._returned(target, on, rounds)
            if found is not OPEN:
                return found
        if any(not isinstance(one, ast.Constant) for one in (*call.args, *(k.value for k in call.keywords))):
            return OPEN  # of a group
        return (
            self._by_name(name, call.func, on)
            if source_of(call) == RANK or rank_words.WORLD_SIZE.match(name) or rank_words.DISTRIBUTED.match(name)
            else OPEN
        )

    def _returned(self, function: Function, on: ConcreteRank, rounds: int) -> Any:
        """Returns what a function gives back on a rank where its last return says so."""
        returned = [node.value for node in function.nodes_of(ast.Return) if isinstance(node, ast.Return) and node.value]
        for value in reversed(returned):
            found = self.value(value, function, on, rounds - 2)
            if found is not OPEN and not isinstance(value, ast.Constant):
                return found
        return OPEN

    def _variable(self, value: ast.expr, on: ConcreteRank) -> Any:
        """Returns what an environment variable of the launcher says on a rank."""
        words = [one.value for one in walk(value) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if any(
            (word.endswith("RANK") and "GROUP" not in word) or word in ("SLURM_PROCID", "SLURM_LOCALID")
            for word in words
        ):
            return on.rank
        return on.world if "WORLD_SIZE" in words or "LOCAL_WORLD_SIZE" in words else OPEN


def _as_text(one: Any, other: Any) -> tuple[Any, Any]:
    """Returns two values as text where one is: a variable of the launcher is, `os.environ["RANK"] == "0"`."""
    texts = [isinstance(each, str) for each in (one, other)]
    numbers = [isinstance(each, int) and not isinstance(each, bool) for each in (one, other)]
    return (str(one), str(other)) if any(texts) and any(numbers) else (one, other)


def _applied(op: ast.AST, left: Any, right: Any) -> Any:
    """Returns an operator's result, OPEN where an operand is or they do not fit."""
    apply = COMMON_OPERATORS.get(type(op))
    if apply is None or left is OPEN or right is OPEN:
        return OPEN
    try:
        return apply(left, right)
    except (TypeError, ZeroDivisionError, OverflowError, ValueError):
        return OPEN


def _is_property(function: Function) -> bool:
    return any(
        last_name(one) in ("property", "cached_property") for one in getattr(function.syntax, "decorator_list", ())
    )


def is_own_rank(value: ast.expr) -> bool:
    """Whether an expression reads the rank in the job: not that in a group, nor of a stage."""
    if isinstance(value, ast.Call) and (value.args or value.keywords):
        return False
    return source_of(value) == RANK and bool(rank_words.OWN_RANK.match(last_name(value)))


def says_distributed(test: ast.expr) -> bool:
    """Whether a test asks only whether several ranks run, which is the same on all of them."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return says_distributed(operand)
        case ast.BoolOp(values=values):
            return all(says_distributed(one) for one in values)
        case ast.Compare(left=left, comparators=[ast.Constant()]):
            return bool(rank_words.WORLD_SIZE.match(last_name(left)) or rank_words.DISTRIBUTED.match(last_name(left)))
        case ast.Name() | ast.Attribute() | ast.Call():
            return bool(rank_words.DISTRIBUTED.match(last_name(test)))
        case _:
            return False
