"""Why what a loop reads can be longer on one rank than on another: random content alone changes no length. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from diagnostics.static.dataflow.taint_rules import returned_item
from diagnostics.static.dataflow.taint_sources import RANK, Taint
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.call_graph import CallGraph, Function, is_generator, last_name

MOST_STEPS = 240
_MADE_OF_NUMBERS = {"range", "arange", "randn", "rand", "zeros", "ones", "empty", "full", "randint", "randperm", "eye",
                    "linspace", "trange"}  # fmt: skip
_SAME_LENGTH = {"list", "tuple", "sorted", "enumerate", "zip", "iter", "reversed", "DataLoader", "tqdm", "map", "set",
                "TensorDataset", "chain", "ConcatDataset", "stack", "cat", "tensor", "as_tensor", "array",
                "from_numpy", "prepare", "batched", "len", "int", "min", "max", "ceil", "abs", "sum"}  # fmt: skip
_MAPPINGS = {"dict", "OrderedDict", "defaultdict"}
_PARTS = {"islice", "Subset", "random_split", "filter", "take", "narrow", "shard", "select", "skip"}
_ENDLESS = {"cycle"}
_CONTENT = {"manual_seed", "seed", "default_rng", "Generator", "RandomState", "Random", "to", "cuda", "device", "print",
            "item", "format", "join", "str"}  # fmt: skip


@dataclass
class LengthTaint:
    """Asks about lengths; `value` tells why a value differs, `changed` why something was added to it on some ranks."""

    program: CallGraph
    value: Callable[[ast.AST, Function], Taint | None]
    changed: Callable[[str, Function], Taint | None]
    agrees: Callable[[str], bool]
    _steps: int = field(default=0)
    _asked: set[tuple[int, int]] = field(default_factory=set)  # `rows = [row for row in rows if ...]` asks for itself

    def of(self, value: ast.AST, function: Function) -> list[Taint]:
        """Returns the reasons why the length of `value` can differ."""
        if not self._asked:  # else the question came up on the way to the answer of another
            self._steps = MOST_STEPS
        return list(self._of(value, function))

    def _of(self, value: ast.AST, function: Function) -> Iterator[Taint]:
        self._steps -= 1
        asked = (id(value), id(function))
        if self._steps < 0 or asked in self._asked:
            return
        self._asked.add(asked)
        yield from list(self._of_kind(value, function))
        if isinstance(value, (ast.Name, ast.Attribute)):
            yield from list(self._iterator(value, function))
        self._asked.discard(asked)

    def _of_kind(self, value: ast.AST, function: Function) -> Iterator[Taint]:
        match value:
            case ast.Name():
                yield from self._name(value.id, function)
            case ast.Attribute():
                yield from self._taints(self.changed(self.program.attribute_key(value, function), function))
                for assigned, where in self.program.attribute_values(value, function)[:4]:
                    yield from self._of(assigned, where)
            case ast.Call():
                yield from self._call(value, function)
            case ast.Subscript():
                yield from self._taints(self.value(value.slice, function))
                yield from self._of(value.value, function)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for generator in value.generators:
                    yield from self._of(generator.iter, function)
                    for test in generator.ifs:
                        yield from self._taints(self.value(test, function))
            case ast.IfExp():
                yield from self._taints(self.value(value.test, function))
                yield from self._of(value.body, function)
                yield from self._of(value.orelse, function)
            case ast.BinOp():
                lists = any(isinstance(part, ast.List) for part in (value.left, value.right))
                for part in (value.left, value.right):
                    yield from self._taints(self.value(part, function) if lists else None)
                    yield from self._of(part, function)

    def _iterator(self, value: ast.expr, function: Function) -> Iterator[Taint]:
        """Yields why an iterator of the project's own may end sooner on one rank: the tests in its `__next__`."""
        for kind in list(self.program.kinds(value, function))[:4]:
            reader = self.program.method(kind, "__next__")
            if reader is None or not any(_ends_iteration(node) for node in reader.own_nodes):
                continue
            for node in (one for one in reader.nodes_of(ast.If) if isinstance(one, ast.If)):
                found = self.value(node.test, reader)
                if found is not None:
                    yield Taint(found.why, reader.file, node.lineno, reader.name, control=True, syntax=node)

    def _taints(self, found: Taint | None) -> Iterator[Taint]:
        if found is not None:
            yield found

    def _name(self, name: str, function: Function) -> Iterator[Taint]:
        scope: Function | None = function
        while scope is not None:
            yield from self._taints(self.changed(name, scope))
            if name in scope.assigned:
                for assigned in scope.assigned[name][:4]:
                    items = self._items(name, assigned, scope)
                    if items is None:
                        yield from self._of(assigned, scope)
                    for item, where in items or ():
                        yield from self._of(item, where)
                return
            if name in scope.parameters:
                for argument, caller in self.program.arguments(name, scope):
                    yield from self._of(argument, caller)
                return
            scope = scope.outer

    def _items(self, name: str, assigned: ast.expr, scope: Function) -> list[tuple[ast.expr, Function]] | None:
        """Returns what a name is given by a function that returns a tuple: `loss, per_class = losses(batch)`."""
        called = self.program.targets(assigned, scope) if isinstance(assigned, ast.Call) else ()
        for node in scope.nodes_of(ast.Assign) if called else ():
            target = node.targets[0] if isinstance(node, ast.Assign) and node.value is assigned else None
            names = [last_name(one) for one in target.elts] if isinstance(target, ast.Tuple) else []
            if name in names:
                found = [(one, returned_item(one, names.index(name), len(names))) for one in called]
                return [(item, one) for one, items in found for item in items] if all(n for _, n in found) else None
        return None

    def _call(self, call: ast.Call, function: Function) -> Iterator[Taint]:
        name = last_name(call.func)
        if name in _CONTENT or name in _ENDLESS or self.agrees(name):
            return
        arguments = [*call.args, *(one.value for one in call.keywords)]
        if name in _MAPPINGS:
            for argument in call.args:  # what stands behind a keyword is one value under one key, whatever it is
                yield from self._of(argument, function)
            return
        targets = self.program.targets(call, function)
        if targets:
            for target in targets:
                yield from self._returned(target, arguments, function)
            return
        numbers = call.args if name in _MADE_OF_NUMBERS else call.args[1:] if name in _PARTS else ()
        for argument in numbers:
            yield from self._taints(self.value(argument, function))
        if name in _MADE_OF_NUMBERS or (name == "islice" and len(call.args) > 1):
            return  # the numbers say it all
        if isinstance(call.func, ast.Attribute):
            yield from self._of(call.func.value, function)
        for argument in arguments:
            yield from self._of(argument, function)
            if name not in _SAME_LENGTH:
                found = self.value(argument, function)
                yield from self._taints(found if found is not None and found.why == RANK else None)

    def _returned(self, target: Function, arguments: list[ast.expr], function: Function) -> Iterator[Taint]:
        if target.name.endswith("__init__") and target.owner is not None:
            measures = self.program.method(target.owner, "__len__")
            if measures is None:
                for argument in arguments:
                    yield from self._of(argument, function)
                reader = self.program.method(target.owner, "__iter__")
                if reader is not None:
                    for loop in _ending_loops(reader):
                        yield from self._of(loop.iter, reader)
                return
            target = measures
        for loop in _ending_loops(target) if is_generator(target) else ():
            yield from self._of(loop.iter, target)
        for node in target.nodes_of(ast.Return):
            if isinstance(node, ast.Return) and node.value is not None:
                if target.name.endswith("__len__"):
                    yield from self._taints(self.value(node.value, target))
                else:
                    yield from self._of(node.value, target)


def _ending_loops(reader: Function) -> Iterator[ast.For | ast.AsyncFor]:
    """Yields the loops of a generator but for those in a `while True` that nothing leaves: these have no length."""
    endless = {
        id(inner)
        for node in reader.nodes_of(ast.While)
        if isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value
        if not any(isinstance(one, ast.Return) for one in walk(node)) and not _broken(node.body)
        for inner in walk(node)
    }
    for node in reader.nodes_of((ast.For, ast.AsyncFor)):
        if isinstance(node, (ast.For, ast.AsyncFor)) and id(node) not in endless:
            yield node


def _broken(body: list[ast.stmt]) -> bool:
    """Whether a `break` leaves the loop whose body this is."""
    for one in body:
        if isinstance(one, ast.Break):
            return True
        if isinstance(one, (ast.For, ast.AsyncFor, ast.While)):
            if _broken(one.orelse):
                return True
            continue
        blocks = [getattr(one, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [each.body for each in (*getattr(one, "handlers", []), *getattr(one, "cases", []))]
        if any(_broken(block) for block in blocks):
            return True
    return False


def _ends_iteration(node: ast.AST) -> bool:
    raised = node.exc if isinstance(node, ast.Raise) else None
    return raised is not None and last_name(raised.func if isinstance(raised, ast.Call) else raised) == "StopIteration"
