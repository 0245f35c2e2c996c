"""What an expression comes to on a given rank, where nothing but the rank and the world size has to be known. Pure.

Stricter than `rank_predicates.py`: a name is not believed for what it is called. `rank` in `for rank in range(world)`
is no rank of this process, a parameter is what every caller passes, and a function is followed to the return it takes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diagnostics.static.dataflow.concrete_operators import FUNCTIONS, applied, computed, tried, turned, variable
from diagnostics.static.dataflow.rank_predicates import OPEN, ConcreteRank, RankPredicates, says_distributed
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, is_generator, last_name
from diagnostics.static.program.project import Project

MOST_ROUNDS = 7
_MOST_ITEMS = 64
NOTHING: Mapping[str, Any] = {}
_RANK_ATTRIBUTES = {"process_index", "global_rank"}  # of Accelerate, Lightning, Fabric
_SETTINGS = ("args", "opt", "opts", "cfg", "config")
_SETS_UP = {"init_process_group", "set_device", "setup", "init_distributed", "destroy_process_group", "init_process"}


@dataclass(frozen=True, slots=True)
class ConcreteEvaluator:
    """Works out expressions of a project."""

    project: Project
    _stores_of: dict[int, dict[str, list[tuple[Function, ast.AST]]]] = field(default_factory=dict)

    def value(
        self, expression: ast.expr, function: Function, on: ConcreteRank, given: Mapping[str, Any] = NOTHING,
        rounds: int = MOST_ROUNDS,
    ) -> Any:  # fmt: skip
        """Returns what an expression comes to on a rank, OPEN where that is not known; `given` are local names."""
        if rounds < 0:
            return OPEN
        match expression:
            case ast.Constant(value=int() | str() | bool() | None as literal):
                return literal
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                values = [self.value(one, function, on, given, rounds) for one in parts]
                return OPEN if any(one is OPEN for one in values) else values
            case ast.UnaryOp(op=op, operand=operand):
                return turned(op, self.value(operand, function, on, given, rounds))
            case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
                one = self.value(left, function, on, given, rounds)
                return applied(op, one, self.value(right, function, on, given, rounds))
            case ast.BoolOp(op=op, values=parts):
                return self._boolean(op, [self.value(one, function, on, given, rounds) for one in parts])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth = self.truth(test, function, on, given, rounds)
                return OPEN if truth is None else self.value(body if truth else orelse, function, on, given, rounds)
            case ast.ListComp(elt=part, generators=[ast.comprehension(target=ast.Name(id=item), iter=over, ifs=tests)]):
                return self._listed(part, item, over, tests, function, on, given, rounds)
            case ast.Name(id=name):
                return given[name] if name in given else self._name(expression, function, on, rounds)
            case ast.Attribute():
                return self._attribute(expression, function, on, rounds)
            case ast.Subscript(value=held, slice=index):
                return self._item(held, index, function, on, given, rounds)
            case ast.Call():
                return self._call(expression, function, on, given, rounds)
            case _:
                return OPEN

    def _listed(
        self, part: ast.expr, item: str, over: ast.expr, tests: list[ast.expr], function: Function, on: ConcreteRank,
        given: Mapping[str, Any], rounds: int,
    ) -> Any:  # fmt: skip
        values = self.value(over, function, on, given, rounds)
        found: list[Any] = []
        for one in values[:_MOST_ITEMS] if isinstance(values, list) else [OPEN]:
            known = {**given, item: one}
            asked = [self.truth(test, function, on, known, rounds - 1) if one is not OPEN else None for test in tests]
            part_of_it = OPEN if None in asked or one is OPEN else self.value(part, function, on, known, rounds - 1)
            found += [part_of_it] if None in asked or all(asked) else []
        return OPEN if OPEN in found else found

    def truth(
        self, test: ast.expr, function: Function, on: ConcreteRank, given: Mapping[str, Any] = NOTHING,
        rounds: int = MOST_ROUNDS,
    ) -> bool | None:  # fmt: skip
        """Returns how a test falls on a rank, None where that is open."""
        if says_distributed(test):
            return RankPredicates(self.project).truth(test, function, on)
        value = self.value(test, function, on, given, rounds)
        return None if value is OPEN else bool(value)

    def differs(self, expression: ast.expr, function: Function) -> tuple[ConcreteRank, Any, ConcreteRank, Any] | None:
        """Returns two ranks and the values on them, None where they are not known to differ."""
        for world in (2, 4):
            first, last = ConcreteRank(0, world), ConcreteRank(world - 1, world)
            one, other = (self.value(expression, function, on) for on in (first, last))
            if one is not OPEN and other is not OPEN and one != other:
                return first, one, last, other
        return None

    def parts(self, test: ast.expr, function: Function) -> bool:
        """Whether a test is known to fall differently, or to be open on one rank only: `rank == 0 and step > 9`."""
        return any(
            self.truth(test, function, ConcreteRank(0, world))
            is not self.truth(test, function, ConcreteRank(world - 1, world))
            for world in (2, 4)
        )

    def _boolean(self, op: ast.boolop, values: list[Any]) -> Any:
        ending = isinstance(op, ast.Or)
        for value in values:
            if value is OPEN:
                break
            if bool(value) is ending:
                return value
        if any(one is not OPEN and bool(one) is ending for one in values):
            return ending
        return OPEN if any(one is OPEN for one in values) else values[-1]

    def _name(self, name: ast.Name, function: Function, on: ConcreteRank, rounds: int) -> Any:
        scope: Function | None = function
        while scope is not None:
            stores = _stores(scope, name.id)
            if stores:
                return self._bound(name.id, scope, on, rounds - 1) if stores == 1 else OPEN
            if name.id in scope.parameters:
                return self._passed(name.id, scope, on, rounds)
            scope = scope.outer
        return self._imported(name.id, function, on, rounds)

    def _bound(self, name: str, scope: Function, on: ConcreteRank, rounds: int) -> Any:
        """Returns what the one assignment of a name gives it."""
        for node in scope.nodes_of((ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name) and target.id == name:
                        return self.value(node.value, scope, on, NOTHING, rounds)
                    if isinstance(target, (ast.Tuple, ast.List)):
                        for at, part in enumerate(target.elts):
                            if isinstance(part, ast.Name) and part.id == name:
                                return self._part(node.value, at, len(target.elts), scope, on, rounds)
        return OPEN

    def _part(self, value: ast.expr, at: int, count: int, scope: Function, on: ConcreteRank, rounds: int) -> Any:
        if isinstance(value, (ast.Tuple, ast.List)):
            return self.value(value.elts[at], scope, on, NOTHING, rounds) if len(value.elts) == count else OPEN
        whole = self.value(value, scope, on, NOTHING, rounds)
        return whole[at] if isinstance(whole, list) and len(whole) == count else OPEN

    def _passed(self, name: str, function: Function, on: ConcreteRank, rounds: int) -> Any:
        """Returns what every caller passes for a parameter; of the function that a launcher starts, the rank."""
        given = [
            self.value(value, where, on, NOTHING, rounds - 2) for value, where in self.project.arguments(name, function)
        ]
        callers = self.project.callers(function)
        if given:
            same = len(given) == min(len(callers), 8) and all(one is not OPEN and one == given[0] for one in given)
            return given[0] if same else OPEN
        if not callers and function.parameters[0] in ("rank", "local_rank") and _is_started(function):
            return on.rank if name == function.parameters[0] else on.world if name in ("world_size", "size") else OPEN
        return OPEN

    def _imported(self, name: str, function: Function, on: ConcreteRank, rounds: int) -> Any:
        file, original = self.project.imported(name, function.file)
        if not file or file not in self.project.by_path:
            return OPEN
        module = self.project.module_of(self.project.by_path[file])
        return self._bound(original, module, on, rounds - 1) if _stores(module, original) == 1 else OPEN

    # Attributes

    def _attribute(self, value: ast.Attribute, function: Function, on: ConcreteRank, rounds: int) -> Any:
        kind = self.kind(value, function)
        if kind is None:
            return on.rank if value.attr in _RANK_ATTRIBUTES else self._setting(value, on, rounds)
        found = [
            one
            for where, node in self._storing(kind).get(value.attr, ())
            for one in self._stored(node, value.attr, where, on, rounds)
        ]
        if len(found) == 1:
            return found[0]
        getter = self.project.method(kind, value.attr) if not found else None
        if getter is not None and "property" in {
            last_name(one) for one in getattr(getter.syntax, "decorator_list", ())
        }:
            return self._returned(getter, on, NOTHING, rounds - 1)
        return OPEN

    def kind(self, value: ast.Attribute, function: Function) -> ast.ClassDef | None:
        """Returns the class of the object whose attribute this is, None where several or none fit."""
        if isinstance(value.value, ast.Name) and value.value.id == "self":
            return self.project.class_of(function)
        kinds = list(self.project.kinds(value.value, function, MOST_ROUNDS))
        return kinds[0] if len({id(one) for one in kinds}) == 1 else None

    def _setting(self, value: ast.Attribute, on: ConcreteRank, rounds: int) -> Any:
        """Returns what `args.rank` is set to wherever it is set from something."""
        if last_name(value.value) not in _SETTINGS:
            return OPEN
        made = [(one, where) for one, where in self.project.attributes.get(value.attr, ())
                if not isinstance(one, ast.Constant)]  # fmt: skip
        found = [self.value(one, where, on, NOTHING, rounds - 2) for one, where in made[:8]]
        return found[0] if found and all(one is not OPEN and one == found[0] for one in found) else OPEN

    def _storing(self, kind: ast.ClassDef) -> dict[str, list[tuple[Function, ast.AST]]]:
        """The statements of a class's methods that store in attributes of `self`, by the attribute."""
        if id(kind) not in self._stores_of:
            found: dict[str, list[tuple[Function, ast.AST]]] = {}
            for where in self._methods(kind):
                for node in where.nodes_of((ast.Assign, ast.AugAssign, ast.AnnAssign)):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
                    parts = [part for one in targets for part in getattr(one, "elts", [one])]
                    for name in dict.fromkeys(one.attr for one in parts if isinstance(one, ast.Attribute)):
                        found.setdefault(name, []).append((where, node))
            self._stores_of[id(kind)] = found
        return self._stores_of[id(kind)]

    def _methods(self, kind: ast.ClassDef) -> list[Function]:
        holder = self.project.module_of_class(kind)
        if holder is None:
            return []
        file = self.project.by_path[holder.file]
        return [one for one in self.project.functions_in(file) if self.project.class_of(one) is kind]

    def _stored(self, node: ast.AST, name: str, where: Function, on: ConcreteRank, rounds: int) -> list[Any]:
        """Returns what a statement stores in `self.name`, as a list of nothing or one."""
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, (ast.AugAssign, ast.AnnAssign)) and _is_own(node.target, name):
            return [OPEN if isinstance(node, ast.AugAssign) or node.value is None else
                    self.value(node.value, where, on, NOTHING, rounds - 1)]  # fmt: skip
        for target in targets:
            if _is_own(target, name) and isinstance(node, ast.Assign):
                return [self.value(node.value, where, on, NOTHING, rounds - 1)]
            if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node, ast.Assign):
                for at, part in enumerate(target.elts):
                    if _is_own(part, name):
                        return [self._part(node.value, at, len(target.elts), where, on, rounds - 1)]
        return []

    # Calls

    def _item(
        self,
        held: ast.expr,
        index: ast.expr,
        function: Function,
        on: ConcreteRank,
        given: Mapping[str, Any],
        rounds: int,
    ) -> Any:
        at = self.value(index, function, on, given, rounds)
        if last_name(held) == "environ":
            return variable(at, on)
        values = self.value(held, function, on, given, rounds)
        fits = isinstance(values, list) and isinstance(at, int) and -len(values) <= at < len(values)
        return values[at] if fits else OPEN

    def _call(self, call: ast.Call, function: Function, on: ConcreteRank, given: Mapping[str, Any], rounds: int) -> Any:
        name = self.project.name(call.func, function)
        if name in ("torch.distributed.get_rank", "torch.distributed.get_world_size"):
            other = call.args or call.keywords  # of a group
            return OPEN if other else on.rank if name.endswith("rank") else on.world
        if name in ("os.getenv", "os.environ.get") and call.args and isinstance(call.args[0], ast.Constant):
            return variable(call.args[0].value, on)
        if call.keywords and any(one.arg is None for one in call.keywords):
            return OPEN
        values = [self.value(one, function, on, given, rounds) for one in call.args]
        if name == "int" and len(values) == 1:
            return OPEN if values[0] is OPEN else tried(lambda: int(values[0]))
        if name in FUNCTIONS or name == "range":
            return OPEN if call.keywords or any(one is OPEN for one in values) else computed(name, values)
        targets = self.project.targets(call, function)
        if len(targets) != 1 or is_generator(targets[0]):
            return OPEN
        return self._returned(targets[0], on, self.bindings(call, targets[0], function, on, given, rounds), rounds - 1)

    def bindings(
        self, call: ast.Call, target: Function, function: Function, on: ConcreteRank, given: Mapping[str, Any],
        rounds: int = MOST_ROUNDS,
    ) -> dict[str, Any]:  # fmt: skip
        """Returns the parameters of a called function as the call passes them."""
        names = list(target.parameters)
        if target.owner is not None and names[:1] in (["self"], ["cls"]):
            names = names[1:]
        found: dict[str, Any] = dict.fromkeys(names, OPEN)
        found.update({name: self.value(one, target, on, NOTHING, rounds - 1) for name, one in _defaults(target)})
        for name, one in zip(names, call.args, strict=False):
            found[name] = self.value(one, function, on, given, rounds - 1)
        found.update({one.arg: self.value(one.value, function, on, given, rounds - 1)
                      for one in call.keywords if one.arg in found})  # fmt: skip
        return found

    def _returned(self, function: Function, on: ConcreteRank, given: Mapping[str, Any], rounds: int) -> Any:
        if isinstance(function.syntax, ast.Lambda):
            return self.value(function.syntax.body, function, on, given, rounds)
        if rounds < 0 or any(_stores(function, name) for name in given):
            return OPEN
        return self._block(function.syntax.body, function, on, given, rounds)

    def _block(
        self, block: list[ast.stmt], function: Function, on: ConcreteRank, given: Mapping[str, Any], rounds: int
    ) -> Any:
        """Returns what the statements return, OPEN also where they return nothing."""
        for statement in block:
            if isinstance(statement, ast.Return):
                return self.value(statement.value, function, on, given, rounds) if statement.value else OPEN
            if not any(isinstance(node, (ast.Return, ast.Raise)) for node in walk(statement)):
                continue
            if not isinstance(statement, ast.If):
                return OPEN
            truth = self.truth(statement.test, function, on, given, rounds)
            if truth is None:
                return OPEN
            arm = statement.body if truth else statement.orelse
            if any(isinstance(node, (ast.Return, ast.Raise)) for part in arm for node in walk(part)):
                return self._block(arm, function, on, given, rounds)
        return OPEN


def _stores(function: Function, name: str) -> int:
    """Returns how often a function assigns a name, loops and deletions included."""
    if isinstance(function.syntax, ast.Lambda):
        return 0
    return function.nodes.stored[name]


def _is_own(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == name and last_name(target.value) == "self"


def _is_started(function: Function) -> bool:
    """Whether a function is one that a launcher starts on each rank: it sets the process group up."""
    return any(isinstance(node, ast.Call) and last_name(node.func) in _SETS_UP for node in function.nodes_of(ast.Call))


def _defaults(function: Function) -> list[tuple[str, ast.expr]]:
    arguments = getattr(function.syntax, "args", None)
    if not isinstance(arguments, ast.arguments):
        return []
    plain = [*arguments.posonlyargs, *arguments.args]
    last = plain[len(plain) - len(arguments.defaults) :]
    pairs = [
        *zip(last, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return [(one.arg, value) for one, value in pairs if value is not None]
