"""Evaluates expressions on values that are not known. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from diagnostics.static.execution import configuration, library
from diagnostics.static.execution.calls import CallEvaluation
from diagnostics.static.execution.containers import merged
from diagnostics.static.execution.counters import (
    attributes_set_later,
    counted_attributes,
    counted_names,
    names_set_in_loops,
)  # fmt: skip
from diagnostics.static.execution.known_tests import decided
from diagnostics.static.execution.values import (
    ANY_KEY,
    UNKNOWN,
    Class,
    Const,
    Generator,
    ImportedFile,
    Instance,
    Items,
    Made,
    Mapped,
    Name,
    OneOf,
    Procedure,
    Scope,
    Super,
    Value,
    chosen,
    is_flag,
    joined,
    truth,
)  # fmt: skip
from diagnostics.static.program.ast_walk import FIELDS

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_METHODS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.BitOr: "or", ast.BitAnd: "and"}


class Expressions(CallEvaluation):
    """What an expression gives."""

    def evaluate(self, node: ast.expr | None, scope: Scope) -> Value:
        """Returns the value of an expression; what it calls happens."""
        if node is None:
            return Const(None)
        return _EVALUATORS.get(node.__class__, Expressions._of_other)(self, node, scope)

    def _of_other(self, node: ast.expr, scope: Scope) -> Value:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, scope)
        return UNKNOWN

    def _of_constant(self, node: ast.Constant, scope: Scope) -> Value:
        return Const(node.value)

    def _of_name(self, node: ast.Name, scope: Scope) -> Value:
        return self.named(node.id, scope)

    def named(self, name: str, scope: Scope) -> Value:
        """Returns what a name means where it stands."""
        at: Scope | None = scope
        while at is not None:
            if name in at.fields:
                return self._of_earlier_round(at, name)
            at = at.outer
        return self.global_name(name, scope)

    def _of_earlier_round(self, at: Scope, name: str) -> Value:
        """Returns what a name holds: not surely what stood before the loops that set it."""
        value = at.fields[name]
        if not isinstance(value, Const):
            return self.state.grown(value)
        project = self.state.project
        value = self._counted(value, name, counted_names(at.function, project))
        if is_flag(value) and self.state.memory.depth and name in names_set_in_loops(at.function, project):
            return self.state.memory.carried(at.fields, name, value)  # type: ignore[arg-type] # a Const
        return value

    @staticmethod
    def _counted(value: Const, name: str, counted: frozenset[str]) -> Value:
        """Returns a value, of a number that the program counts up something that changes."""
        counts = name in counted and type(value.value) in (int, float, bool)
        return Made("counter", args=(Const(name),)) if counts else value

    def _of_attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.evaluate(node.value, scope), node.attr, node, scope)

    def attribute(self, owner: Value, name: str, node: ast.AST, scope: Scope) -> Value:
        """Returns an attribute of a value."""
        if isinstance(owner, OneOf):
            return joined([self.attribute(one, name, node, scope) for one in owner.options], owner.tests)
        if isinstance(owner, ImportedFile):
            return self.of_module(owner, name, scope)
        if isinstance(owner, Name):
            return Name(self.state.project.expanded(f"{owner.name}.{name}"))
        if isinstance(owner, (Instance, Class, Super)):
            found = self.of_object(owner, name, node, scope)
            if found is not None:
                return self._kept(owner, name, found)
        elif isinstance(owner, (Made, Procedure)):
            kept = owner.fields.get(name) or (library.attribute(owner, name) if isinstance(owner, Made) else None)
            kept = kept or configuration.option(owner, name, node)
            if kept is not None:
                return kept
        elif isinstance(owner, Mapped) and name in owner.fields:
            return owner.fields[name]
        whose = owner.receiver if isinstance(owner, Super) else owner
        return Made(f".{name}", owner=whose, node=node, function=scope.function)

    def _kept(self, owner: Value, name: str, value: Value) -> Value:
        """Returns what an object keeps: not surely what it was made with, where a loop runs and others set it."""
        if not isinstance(value, Const):
            return self.state.grown(value)
        value = self._counted(value, name, counted_attributes(self.state.project))
        if isinstance(value, Made) and name in attributes_set_later(self.state.project):
            return Made("counter", args=(*value.args, Const("set back")))
        fields = owner.fields if isinstance(owner, (Instance, Class)) else {}
        later = is_flag(value) and self.state.memory.depth and name in attributes_set_later(self.state.project)
        if later and fields.get(name) is value:
            return self.state.memory.carried(fields, name, value)  # type: ignore[arg-type] # a Const
        return value

    def _of_subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        owner = self.evaluate(node.value, scope)
        index = self.evaluate(node.slice, scope)
        return self.item(owner, index, node, scope)

    def item(self, owner: Value, index: Value, node: ast.AST, scope: Scope) -> Value:
        """Returns an item of a value."""
        if isinstance(owner, Items) and isinstance(index, Const) and isinstance(index.value, int):
            items = owner.items
            if -len(items) <= index.value < len(items) and not (owner.open and index.value < 0):
                return items[index.value]
        if isinstance(owner, Mapped):
            if isinstance(index, Const):
                try:
                    if index.value in owner.fields:
                        return owner.fields[index.value]
                except TypeError:
                    return UNKNOWN
            elif owner.fields and (not owner.open or ANY_KEY in owner.fields):
                return joined(list(owner.fields.values()), (index,))
        if isinstance(owner, Instance) and isinstance(index, Const) and isinstance(index.value, int):
            names = [name for name, _ in self.fields_of(owner.kind)]  # of a named tuple
            if 0 <= index.value < len(names) and names[index.value] in owner.fields:
                return owner.fields[names[index.value]]
        if isinstance(owner, (Instance, Class)) and (asked := self._asked(owner, index, node, scope)) is not None:
            return asked
        return Made("[]", owner=owner, args=(index,), node=node, function=scope.function)

    def _asked(self, owner: Value, index: Value, node: ast.AST, scope: Scope) -> Value | None:
        """Returns what `__getitem__` of a class of the project gives, but for data sets: their items are samples."""
        if not isinstance(owner, Instance) or any("Dataset" in name for name in self.foreign_bases(owner.kind)):
            return None
        method = self.of_object(owner, "__getitem__", node, scope)
        return self.call(method, (index,), {}, node, scope) if isinstance(method, Procedure) else None

    def _of_slice(self, node: ast.Slice, scope: Scope) -> Value:
        parts = [self.evaluate(one, scope) for one in (node.lower, node.upper, node.step) if one is not None]
        return Made("slice", args=tuple(parts), node=node, function=scope.function)

    def _of_tuple(self, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Value:
        found: list[Value] = []
        whole = True
        for one in node.elts:
            if isinstance(one, ast.Starred):
                items, known = library.items_of(self.evaluate(one.value, scope), one)
                found += items
                whole = whole and known
            else:
                found.append(self.evaluate(one, scope))
        return Items({"items": tuple(found)}, not whole, -1 if isinstance(node, ast.Tuple) else self.state.memory.depth)

    _of_list = _of_set = _of_tuple

    def _of_dict(self, node: ast.Dict, scope: Scope) -> Value:
        table = Mapped({}, depth=self.state.memory.depth)
        for key, value in zip(node.keys, node.values, strict=True):
            given = self.evaluate(value, scope)
            named = self.evaluate(key, scope) if key is not None else None
            if isinstance(named, Const) and isinstance(named.value, (str, int, float, bool, type(None))):
                table.fields[named.value] = given
            elif isinstance(given, Mapped) and key is None:
                table.fields.update(given.fields)
                table.open = table.open or given.open
            else:
                table.open = True
        return table

    def _of_binop(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        if isinstance(node.op, ast.BitOr) and isinstance(left, Mapped) and isinstance(right, Mapped):
            return merged(left, right)
        own = self._own_operator(left, right, node, scope)
        return own or library.computed(_BINARY[type(node.op)], left, right, node, scope.function)

    def _own_operator(self, left: Value, right: Value, node: ast.BinOp, scope: Scope) -> Value | None:
        """Returns what an operator of a class of the project gives: `meter += loss`."""
        if not isinstance(left, Instance):
            return None
        operator = _METHODS.get(type(node.op), "")
        for name in (f"__{operator}__", f"__i{operator}__"):  # the second is that of `+=` alone
            method = self.of_object(left, name, node, scope) if operator else None
            if isinstance(method, Procedure):
                return self.call(method, (right,), {}, node, scope)
        return None

    def _of_unaryop(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            told = truth(value)
            return Const(not told) if told is not None else Made("not", args=(value,), node=node)
        if isinstance(node.op, ast.USub) and isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value)
        return Made("-", args=(value,), node=node)

    def _of_boolop(self, node: ast.BoolOp, scope: Scope) -> Value:
        stops = isinstance(node.op, ast.Or)
        seen: list[Value] = []
        for one in node.values:
            value = self.evaluate(one, scope)
            told = decided(value, self.state.guards)
            if told is stops:
                return value if not seen else Made("or" if stops else "and", args=(*seen, value), node=node)
            if told is None or one is node.values[-1]:
                seen.append(value)
        return seen[0] if len(seen) == 1 else Made("or" if stops else "and", args=tuple(seen), node=node)

    def _of_compare(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self.evaluate(one, scope) for one in (node.left, *node.comparators)]
        if len(values) == 2:
            operator = _BINARY[type(node.ops[0])]
            of_none = operator in ("is", "is not") and isinstance(values[1], Const) and values[1].value is None
            if of_none and self.surely_something(values[0]):
                return Const(operator == "is not")
            return library.computed(operator, values[0], values[1], node, scope.function)
        return Made("<", args=tuple(values), node=node)

    @staticmethod
    def surely_something(value: Value) -> bool:
        """Whether a value is surely not None."""
        if isinstance(value, Made):
            return value.name[:1].isupper() or value.name.rpartition(".")[2][:1].isupper()
        return isinstance(value, (Procedure, Class, Generator, Instance, Items, ImportedFile, Name, Mapped))

    def _of_ifexp(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.evaluate(node.test, scope)
        told = decided(test, self.state.guards)
        if told is not None:
            return self.evaluate(node.body if told else node.orelse, scope)
        found: list[Value] = []
        self.either(node, test, [lambda: found.append(self.arm(node, test, True, scope)),
                                 lambda: found.append(self.arm(node, test, False, scope))], scope)  # fmt: skip
        return chosen(found, [((test, True, node),), ((test, False, node),)])

    def _of_lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return self.function_value(node, scope)

    def _of_joinedstr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts = [self.evaluate(one, scope) for one in node.values]
        if all(isinstance(one, Const) and isinstance(one.value, str) for one in parts):
            return Const("".join(str(one.value) for one in parts if isinstance(one, Const)))
        return Made("f", args=tuple(parts), node=node)

    def _of_formattedvalue(self, node: ast.FormattedValue, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _of_namedexpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def _of_starred(self, node: ast.Starred, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _of_await(self, node: ast.Await, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _of_call(self, node: ast.Call, scope: Scope) -> Value:
        return self.called(node, scope)

    def _of_listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Value:
        return self._comprehension(node.generators, [node.elt], scope)

    _of_setcomp = _of_generatorexp = _of_listcomp

    def _of_dictcomp(self, node: ast.DictComp, scope: Scope) -> Value:
        found = self._comprehension(node.generators, [node.key, node.value], scope)
        table = Mapped({}, depth=self.state.memory.depth, open=isinstance(found, Items) and found.open)
        pairs = found.items if isinstance(found, Items) else ()
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            known = isinstance(key, Const) and isinstance(key.value, (str, int, float, bool, type(None)))
            name = key.value if isinstance(key, Const) and known else ANY_KEY
            table.fields[name] = joined([table.fields[name], value]) if name in table.fields and not known else value
            table.open = table.open or not known
        return table

    def _comprehension(self, rounds: Sequence[ast.comprehension], results: Sequence[ast.expr], scope: Scope) -> Value:
        inner = Scope({}, scope, scope.function)
        found: list[Value] = []
        whole: list[bool] = []

        def go(at: int) -> None:
            if at == len(rounds):
                found.extend(self.evaluate(one, inner) for one in results)
                return
            one = rounds[at]

            def body(item: Value) -> None:
                self.assign(one.target, item, inner)
                told = [truth(self.evaluate(test, inner)) for test in one.ifs]
                whole.append(None not in told)
                if False not in told:
                    go(at + 1)

            whole.append(self.each(self.evaluate(one.iter, inner), one, body, inner))

        go(0)
        return Items({"items": tuple(found)}, not all(whole))

    def _of_yield(self, node: ast.Yield, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.yielded(value)
        return UNKNOWN

    def _of_yieldfrom(self, node: ast.YieldFrom, scope: Scope) -> Value:
        self.each(self.evaluate(node.value, scope), node, self.yielded, scope)
        return UNKNOWN


# The method that evaluates each kind of expression.
_EVALUATORS: dict[type[ast.AST], Callable[[Any, Any, Scope], Value]] = {
    kind: getattr(Expressions, f"_of_{kind.__name__.lower()}")
    for kind in FIELDS
    if hasattr(Expressions, f"_of_{kind.__name__.lower()}")
}
