"""Which values a collective made the same on every rank, and what is made of such values alone. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from diagnostics.agent.shared import operations
from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.taint_rules import agrees, base_name, holds_for_several, ways_of_several
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.call_graph import CallGraph, Function, last_name
from diagnostics.static.program.own_nodes import statements_of

_ROUNDS = 12  # names, calls and comprehensions between a value and the collective
_TARGETS = 3  # functions that a call may mean
_OF_ALL = {"sum", "max", "min", "float", "int", "list", "dict", "abs", "round"}  # of agreed parts an agreed whole
_SUITES = ("body", "orelse", "finalbody", "handlers")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FINITE = {"isnan", "isinf", "isfinite"}
_GENERATORS = {"Random", "RandomState", "default_rng"}
_MADE = (ast.Call, ast.DictComp, ast.ListComp)
_PARTS = (ast.BinOp, ast.Subscript)  # `totals[0] / totals[1]`


def _is_constant(value: ast.AST, function: Function) -> bool:
    """Whether a value is made of what is written there and of constants of its module: `torch.tensor(CONTINUE)`."""
    if isinstance(value, ast.Call):
        return all(_is_constant(one, function) for one in (*value.args, *(given.value for given in value.keywords)))
    if isinstance(value, ast.Name):
        return value.id.isupper() and value.id not in (*function.parameters, *function.assigned)
    return isinstance(value, ast.Constant)


def _is_seeded(generator: ast.expr, function: Function) -> bool:
    """Whether a generator was made from a seed here: what it draws is another number where the seed is another one."""
    if not isinstance(generator, ast.Name) or generator.id in function.parameters:
        return False
    made = function.assigned.get(generator.id, [])
    return bool(made) and all(
        isinstance(one, ast.Call) and last_name(one.func) in _GENERATORS and bool(one.args) for one in made
    )


def _stored(node: ast.AST) -> str:
    return ast.unparse(getattr(node, "target", node))


def _is_added_to(name: str, function: Function) -> bool:
    """Whether something is added to what a name holds, or to an item of it, which `assigned` does not tell."""
    return any(
        isinstance(node, ast.AugAssign) and base_name(node.target) == name for node in function.nodes_of(ast.AugAssign)
    )


@dataclass(eq=False)
class AgreedValues:
    """Answers for expressions of a program."""

    program: CallGraph
    _fills: dict[int, dict[str, list[int]]] = field(default_factory=dict)

    def holds(self, value: ast.expr, function: Function, rounds: int = _ROUNDS) -> bool:
        """Whether a collective made a value, or filled it, or everything that it is made of."""
        if rounds < 0:
            return False  # `x = x.float()`
        match value:
            case ast.Call():
                return self._of_call(value, function, rounds)
            case ast.DictComp() | ast.ListComp() | ast.GeneratorExp():
                return all(self.holds(one.iter, function, rounds - 1) for one in value.generators)
            case ast.BinOp():
                return all(
                    isinstance(one, ast.Constant) or self.holds(one, function, rounds - 1)
                    for one in (value.left, value.right)
                )
            case ast.IfExp():
                return all(self.holds(one, function, rounds - 1) for one in ways_of_several(value))
            case ast.Attribute() if self.filled_attribute(value, function):
                return True
            case ast.Subscript() | ast.Attribute():
                return self.holds(value.value, function, rounds - 1)
            case ast.Name() if rank_words.WORLD_SIZE.match(value.id):
                return True
            case ast.Name():
                made = function.assigned.get(value.id, ())
                kinds = _MADE if _is_added_to(value.id, function) else (*_MADE, *_PARTS)
                if made and all(isinstance(one, kinds) and self.holds(one, function, rounds - 1) for one in made):
                    return True
                return self._set_last(value, function, rounds) or self.filled_before(value, function)
            case _:
                return False

    def _of_call(self, call: ast.Call, function: Function, rounds: int) -> bool:
        name = last_name(call.func)
        if agrees(name) or rank_words.WORLD_SIZE.match(name) or self.program.agrees(call, function):
            return True
        if isinstance(call.func, ast.Name):
            whole = call.func.id in _OF_ALL and bool(call.args)
            return whole and all(self.holds(one, function, rounds - 1) for one in call.args)
        return isinstance(call.func, ast.Attribute) and self.holds(call.func.value, function, rounds - 1)

    def made_last(self, name: ast.Name, function: Function) -> bool:
        """Whether a collective made what a name holds at a use, whatever it held before."""
        return self.filled_each_round(name, function) or self._set_last(name, function, _ROUNDS)

    def _set_last(self, name: ast.Name, function: Function, rounds: int) -> bool:
        last = last_assigned(name, function) if len(function.assigned.get(name.id, ())) > 1 else None
        return isinstance(last, (*_MADE, ast.IfExp)) and self.holds(last, function, rounds - 1)

    def is_read_off(self, value: ast.AST, function: Function) -> bool:
        """Whether a value is read off what is the same on every rank: `worst.item()` after all_reduce(worst)."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return False
        if value.func.attr in _FINITE and value.args:
            return all(self.holds(one, function) for one in value.args)
        return _is_seeded(value.func.value, function) or self.holds(value.func.value, function)

    def filled_before(self, name: ast.Name, function: Function) -> bool:
        """Whether a collective filled the name before this line, and what was assigned to it since is made of that."""
        last = self.filled_at(name, function)
        if last is None:
            return self.filled_each_round(name, function)
        since = [one for one in function.assigned.get(name.id, ()) if last < one.lineno < name.lineno]
        return all(self.holds(one, function) for one in since)

    def filled_attribute(self, value: ast.Attribute, function: Function) -> bool:
        """Whether a collective filled `self.total` before this line of its function, and nothing came in since."""
        filled = self._filled(function)
        text = ast.unparse(value) if filled else ""
        last = max((line for line in filled.get(text, ()) if line < value.lineno), default=None)
        if last is None:
            return False
        stored = {
            getattr(node, "lineno", 0)
            for node in function.nodes_of((ast.Attribute, ast.Subscript, ast.AugAssign))
            if isinstance(getattr(node, "ctx", ast.Store()), ast.Store) and _stored(node).startswith(text)
        }
        return not any(last < line < value.lineno for line in stored)

    def filled_each_round(self, name: ast.Name, function: Function) -> bool:
        """Whether a `while` asks for what begins alike on every rank and is filled by a collective in each round."""
        loops = [
            one
            for one in function.nodes_of(ast.While)
            if isinstance(one, ast.While) and any(inner is name for inner in walk(one.test))
        ]
        made = function.assigned.get(name.id, ())
        if not loops or not made:
            return False
        lines = range(loops[0].lineno, (loops[0].end_lineno or loops[0].lineno) + 1)
        filled = [line for line in self._filled(function).get(name.id, ()) if line in lines]
        first = [one for one in made if one.lineno < loops[0].lineno]
        within = [one for one in made if one.lineno in lines]  # what is made in a round is filled behind that
        return (
            bool(filled)
            and len(first) + len(within) == len(made)
            and all(_is_constant(one, function) for one in first)
            and all(one.lineno < max(filled) for one in within)
        )

    def filled_at(self, name: ast.Name, function: Function) -> int | None:
        """Returns the last line before this use at which a collective filled the name, None where none did."""
        return max((line for line in self._filled(function).get(name.id, ()) if line < name.lineno), default=None)

    def _filled(self, function: Function) -> dict[str, list[int]]:
        if id(function) not in self._fills:
            found: dict[str, list[int]] = defaultdict(list)
            self._fills[id(function)] = {}  # a function that calls itself
            for node in function.nodes_of(ast.Call):
                if isinstance(node, ast.Call) and last_name(node.func) in operations.SHARED:
                    for argument in node.args[:1]:
                        found[base_name(argument)].append(node.lineno)
                        if isinstance(argument, ast.Attribute):
                            found[ast.unparse(argument)].append(node.lineno)
                elif isinstance(node, ast.Call) and node.args:
                    for argument in self._filled_by(node, function):
                        found[base_name(argument)].append(node.lineno)
            self._fills[id(function)] = found
        return self._fills[id(function)]

    def _filled_by(self, call: ast.Call, function: Function) -> Iterator[ast.expr]:
        """Yields the arguments that every function of the project which a call may mean lets a collective fill."""
        targets = self.program.targets(call, function)[:_TARGETS]
        for place, argument in enumerate(call.args if targets else ()):
            given = [one.parameters[one.implied :][place : place + 1] for one in targets]
            filled = (names and names[0] in self._filled(one) for one, names in zip(targets, given, strict=True))
            if isinstance(argument, ast.Name) and all(filled):
                yield argument


def last_assigned(name: ast.Name, function: Function) -> ast.expr | None:
    """Returns what a name was set to last before its use: `loss = summed(loss)`, also under `if world_size > 1`.

    None where a branch, an earlier round of a loop or a caller may have set it.
    """
    suites = list(_suites_with(name, statements_of(function.syntax)))
    for suite, at, looped in reversed(suites):
        for statement in reversed(suite[:at]):
            known, value = _set_by(statement, name.id)
            if known:
                return value
        if looped and any(_stores(one, name.id) for one in suite):
            return None
    return None


def _suites_with(name: ast.Name, suite: object) -> Iterator[tuple[Sequence[ast.stmt], int, bool]]:
    """Yields the blocks around a use, outermost first: each, where in it the use is, and whether it goes round."""
    looped = False
    while isinstance(suite, list):
        at = next((n for n, one in enumerate(suite) if _covers(one, name)), None)
        if at is None:
            return
        yield suite, at, looped
        holder = suite[at]
        parts = [part for part in _SUITES if any(_covers(one, name) for one in getattr(holder, part, ()))]
        looped = isinstance(holder, _LOOPS)
        suite = getattr(holder, parts[0]) if parts else None


def _covers(node: ast.AST, name: ast.Name) -> bool:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
    return first <= name.lineno <= last


def _set_by(statement: ast.stmt, name: str) -> tuple[bool, ast.expr | None]:
    """Returns whether a statement may set a name, and to what where that is sure."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name) and target.id == name:
            return True, statement.value
    if isinstance(statement, ast.If) and (told := holds_for_several(statement.test)) is not None:
        for one in reversed(statement.body if told else statement.orelse):
            known, value = _set_by(one, name)
            if known:
                return True, value
        return False, None
    return _stores(statement, name), None


def _stores(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in walk(statement)
    )
