"""Runs calls: into the project's functions and classes; what leaves the project is an event. Pure."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from diagnostics.static.execution import library
from diagnostics.static.execution.containers import of_container
from diagnostics.static.execution.events import NO_GRAD, Entered
from diagnostics.static.execution.foreign import ForeignCalls
from diagnostics.static.execution.state import MOST_DEPTH
from diagnostics.static.execution.values import (
    NO_KEYWORDS,
    UNKNOWN,
    Class,
    Const,
    Generator,
    Instance,
    Items,
    Made,
    Mapped,
    Name,
    OneOf,
    Partial,
    Procedure,
    Scope,
    Super,
    Value,
    joined,
)  # fmt: skip

_MOST_AT_ONCE = 2  # of one function within itself


class CallEvaluation(ForeignCalls):
    """What a call gives and what happens in it."""

    @abstractmethod
    def run_body(self, callee: Procedure, scope: Scope) -> Value:
        """Runs the statements of a function; returns what it gives back."""

    def called(self, node: ast.Call, scope: Scope) -> Value:
        """Returns what a call in the program gives."""
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return self._super(scope)
        if isinstance(node.func, ast.Attribute):
            owner = self.evaluate(node.func.value, scope)
            args, keywords = self._arguments(node, scope)
            if isinstance(owner, OneOf) and all(isinstance(one, (Items, Mapped)) for one in owner.options):
                for one in owner.options[1:]:
                    self._of_container(one, node.func.attr, args, keywords)
                owner = owner.options[0]
            if isinstance(owner, (Items, Mapped)):
                found = self._of_container(owner, node.func.attr, args, keywords)
                if found is not None:
                    return found
            return self.call(self.attribute(owner, node.func.attr, node.func, scope), args, keywords, node, scope)
        callee = self.evaluate(node.func, scope)
        return self.call(callee, *self._arguments(node, scope), node, scope)

    def _of_container(
        self, owner: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value | None:
        """Returns what a method of a list or dict gives, and changes it; None where it is no such."""
        found = of_container(owner, name, args, keywords, self.state.memory.depth)
        for store, key, value in found[1] if found is not None else ():
            self.state.memory.write(store, key, value)
        return found[0] if found is not None else None

    def _super(self, scope: Scope) -> Value:
        at: Scope | None = scope
        while at is not None:
            owner = at.function.owner
            if owner is not None and at.function.parameters:
                receiver = at.fields.get(at.function.parameters[0])
                if isinstance(receiver, (Instance, Class)):
                    kind = receiver.kind if isinstance(receiver, Instance) else receiver
                    below = next((one for one in self.lineage(kind) if one.kind is owner), None)
                    return Super(below, receiver) if below is not None else UNKNOWN
            at = at.outer
        return UNKNOWN

    def _arguments(self, node: ast.Call, scope: Scope) -> tuple[list[Value], dict[str, Value]]:
        args: list[Value] = []
        spread: dict[str, Value] = {}  # what is handed over item by item, until it is known to how many parameters
        for one in node.args:
            value = self.evaluate(one, scope)
            if isinstance(one, ast.Starred):
                items, whole = library.items_of(value, one)
                known = whole or isinstance(value, Items)
                args += items if known else [UNKNOWN]
                if not known and one is node.args[-1] and isinstance(value, Made):
                    spread["*"] = value
            else:
                args.append(value)
        keywords: dict[str, Value] = spread
        for given in node.keywords:
            value = self.evaluate(given.value, scope)
            if given.arg is not None:
                keywords[given.arg] = value
            elif isinstance(value, Mapped):
                keywords |= {str(key): each for key, each in value.fields.items()}
            else:
                keywords["**"] = value
        return args, keywords

    def call(
        self, callee: Value, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Returns what calling a value gives."""
        self.state.step()
        if isinstance(callee, Partial):
            return self.call(callee.callee, [*callee.args, *args], {**callee.keywords, **keywords}, node, scope)
        if isinstance(callee, OneOf):
            return joined([self.call(one, args, keywords, node, scope) for one in callee.options], callee.tests)
        if isinstance(callee, Procedure):
            return self.enter(callee, args, keywords, node, scope)
        if isinstance(callee, Class):
            return self._instance(callee, args, keywords, node, scope)
        if isinstance(callee, Instance):
            method = self.of_object(callee, "__call__", node, scope)
            if method is not None and not self.is_model(callee):
                return self.call(method, args, keywords, node, scope)
            return self._model(callee, args, keywords, node, scope)
        if isinstance(callee, Name):
            keywords = {key: value for key, value in keywords.items() if key != "*"} if "*" in keywords else keywords
            found = self.of_library(callee.name, args, keywords, node, scope)
            return found if found is not None else self.leaves(callee.name, None, args, keywords, node, scope)
        if isinstance(callee, Made) and _is_attribute(callee.node) and callee.owner is not None:
            if callee.name[1:] in library.ITSELF:
                self.leaves(callee.name, callee.owner, args, keywords, node, scope)
                return callee.owner
            made = self.leaves(callee.name, callee.owner, args, keywords, node, scope)
            self.of_method(callee.name[1:], callee.owner, args, keywords, node, scope)
            return made
        return self._model(callee, args, keywords, node, scope)

    def _model(
        self, callee: Value, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Calls a model or what nothing is known of; what its forward gives is noted beside what the call gives."""
        made = self.leaves("()", callee, args, keywords, node, scope)
        given = self.forward(callee, args, keywords, node, scope)
        if given is not None:
            self.state.execution.forwards[id(made)] = made, given
        return made

    def leaves(
        self, name: str, owner: Value | None, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Notes a call that leaves the project; returns what it gives."""
        if "*" in keywords:
            keywords = {key: value for key, value in keywords.items() if key != "*"}
        made = Made(name, owner, tuple(args), keywords or NO_KEYWORDS, node, scope.function)
        self.state.happened(name, node, scope.function, owner=owner, args=made.args, keywords=keywords, value=made)
        return made

    # ------------------------------------------------------------------ the project

    def _instance(
        self, kind: Class, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        self.state.entered.add(id(kind.kind))
        made = Instance(kind, node, scope.function)
        start = self.of_object(made, "__init__", node, scope)
        if isinstance(start, Procedure):
            self.call(start, args, keywords, node, scope)
            return made
        inside = Scope({}, kind.scope, kind.module)
        rest = keywords.get("**")
        for at, (name, default) in enumerate(self.fields_of(kind)):
            if name in keywords or at < len(args):
                made.fields[name] = keywords[name] if name in keywords else args[at]
            elif rest is not None:
                usually = {"default": self._default(default, inside)} if default is not None else {}
                made.fields[name] = Made("[]", rest, (Const(name),), usually, node, scope.function)
            elif default is not None:
                made.fields[name] = self._default(default, inside)
        self.state.memory.born(made.fields)
        after = self.of_object(made, "__post_init__", node, scope)
        if after is not None:
            self.call(after, (), {}, node, scope)
        return made

    def _default(self, value: ast.expr, scope: Scope) -> Value:
        if isinstance(value, ast.Call):
            made = {one.arg: one.value for one in value.keywords}
            if "default_factory" in made:
                return self.call(self.evaluate(made["default_factory"], scope), (), {}, value, scope)
            if "default" in made and "field" in ast.unparse(value.func):
                return self.evaluate(made["default"], scope)
        return self.evaluate(value, scope)

    def enter(
        self, callee: Procedure, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Runs a function of the project."""
        if self._is_too_deep(callee):
            return self.leaves("()", callee, args, keywords, node, scope)
        given = [callee.receiver, *args] if callee.receiver is not None else list(args)
        names = self._parameters(callee, given, keywords, node)
        local = Scope(names, callee.scope, callee.function)
        self.state.memory.born(names)
        if callee.function.is_generator:
            return Generator(callee, local)
        return self._inside(callee, local, node, scope)

    def _inside(self, callee: Procedure, local: Scope, node: ast.AST, scope: Scope) -> Value:
        """Runs the body of a function that is called in `scope`."""
        state = self.state
        state.entered.add(id(callee.function.syntax))
        frames, contexts = state.frames, state.contexts
        state.frames = (*frames, Entered(callee.function, node, scope.function))
        state.execution.entered.append(state.frames)
        if callee.marks and not NO_GRAD.isdisjoint(callee.marks):
            state.contexts = (*contexts, Made("torch.no_grad"))
        try:
            return self.run_body(callee, local)
        finally:
            state.frames, state.contexts = frames, contexts

    def _is_too_deep(self, callee: Procedure) -> bool:
        frames = self.state.frames
        if len(frames) < _MOST_AT_ONCE:
            return False
        return len(frames) >= MOST_DEPTH or [one.function for one in frames].count(callee.function) >= _MOST_AT_ONCE

    def run_generator(self, made: Generator, each: Callable[[Value], None], node: ast.AST, scope: Scope) -> None:
        """Runs a generator; does something with each value it yields, where it yields it."""
        if self._is_too_deep(made.callee):
            each(UNKNOWN)
            return
        self.yields.append(each)
        try:
            self._inside(made.callee, made.scope, node, scope)
        finally:
            self.yields.pop()

    yields: list[Callable[[Value], None]]

    def yielded(self, value: Value) -> None:
        """A generator that is being run yields a value."""
        if not self.yields:
            return
        each, frames = self.yields.pop(), self.state.frames
        self.state.frames = frames[:-1]  # who iterates goes on
        try:
            each(value)
        finally:
            self.yields.append(each)
            self.state.frames = frames

    def _parameters(
        self, callee: Procedure, given: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
    ) -> dict[str, Value]:
        syntax = callee.function.syntax
        if isinstance(syntax, ast.Module):
            return {}
        arguments = syntax.args
        positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        found: dict[str, Value] = dict(zip(positional, given, strict=False))
        rest = dict(keywords)
        spread = rest.pop("*", None)
        if spread is not None and 0 < len(given) <= len(positional):
            for at, name in enumerate(positional[len(given) - 1 :]):
                if name not in callee.defaults:
                    found[name] = Made("[]", spread, (Const(at),), NO_KEYWORDS, node, callee.function)
        for name in (*positional, *(one.arg for one in arguments.kwonlyargs)):
            if name in rest:
                found[name] = rest.pop(name)
            elif name not in found:
                found[name] = callee.defaults.get(name) or Made("argument", args=(Const(name),), node=node)
        if arguments.vararg is not None:
            found[arguments.vararg.arg] = Items({"items": tuple(given[len(positional) :])})
        if arguments.kwarg is not None:
            more = rest.pop("**", None)
            found[arguments.kwarg.arg] = Mapped(dict(rest), more is not None)
        return found


def _is_attribute(node: ast.AST | None) -> bool:
    """Whether a value was read as an attribute: `x.name`, `getattr(x, "name")`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "getattr"
    return isinstance(node, ast.Attribute)
