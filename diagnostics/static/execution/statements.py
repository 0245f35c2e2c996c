"""Runs statements on values that are not known. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from diagnostics.static.execution import library
from diagnostics.static.execution.blocks import Blocks
from diagnostics.static.execution.events import Guard, OpenLoop
from diagnostics.static.execution.known_tests import decided
from diagnostics.static.execution.memory import Flow
from diagnostics.static.execution.state import RunState
from diagnostics.static.execution.values import (
    Const,
    Generator,
    Instance,
    Items,
    Made,
    OneOf,
    Procedure,
    Scope,
    Value,
    chosen,
    truth,
)  # fmt: skip
from diagnostics.static.program.ast_walk import FIELDS

_MOST_ROUNDS = 6  # of a loop whose items are all known
_LEAPS = {ast.Break: Flow.BREAK, ast.Continue: Flow.CONTINUE}


class Interpreter(Blocks):
    """Runs a program."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.yields = []
        self._given_back: list[list[tuple[Value, tuple[Guard, ...]]]] = []
        self._main = ""

    # ------------------------------------------------------------------ files and functions

    def run_script(self, file: str) -> None:
        """Runs a file as the program."""
        self._main = file
        self.run_file(file)

    def run_file(self, file: str) -> Scope:
        """Runs the top level of a file of the project, once."""
        known = self.state.scopes.get(file)
        if known is not None:
            return known
        function = self.state.project.module_of(self.state.project.by_path[file])
        scope = self.state.scopes[file] = Scope({}, None, function)
        scope.fields["__name__"] = Const("__main__" if file == self._main else "module")
        state = self.state
        around = state.loops, state.guards, state.contexts, state.tries, state.frames
        state.loops, state.guards, state.contexts, state.tries, state.frames = (), (), (), (), ()
        try:
            self.block(getattr(function.syntax, "body", []), scope)
        finally:
            state.loops, state.guards, state.contexts, state.tries, state.frames = around
        return scope

    def run_body(self, callee: Procedure, scope: Scope) -> Value:
        """Runs the statements of a function; returns what it gives back."""
        syntax = callee.function.syntax
        if isinstance(syntax, ast.Lambda):
            return self.evaluate(syntax.body, scope)
        state = self.state
        guards, tries = state.guards, state.tries
        self._given_back.append([])
        try:
            flow = self.block(getattr(syntax, "body", []), scope)
            if flow is Flow.NEXT and self._given_back[-1] and isinstance(syntax, ast.FunctionDef):
                self._given_back[-1].append((Const(None), state.guards))
        finally:
            state.guards, state.tries = guards, tries
            found = self._given_back.pop()
        if not found:
            return Const(None)
        own = [[(one.test, one.taken, one.node) for one in under[len(guards) :]] for _, under in found]
        return chosen([value for value, _ in found], [tuple(each) for each in own])

    # ------------------------------------------------------------------ statements

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> Flow:
        """Runs statements one after the other, to the first that leaves."""
        for one in statements:
            flow = self.run(one, scope)
            if flow is not Flow.NEXT:
                return flow
        return Flow.NEXT

    def run(self, node: ast.stmt, scope: Scope) -> Flow:
        """Runs one statement."""
        self.state.step()
        return _RUNNERS.get(node.__class__, Interpreter._run_other)(self, node, scope)

    def _run_other(self, node: ast.stmt, scope: Scope) -> Flow:
        return Flow.NEXT

    def _run_expr(self, node: ast.Expr, scope: Scope) -> Flow:
        self.evaluate(node.value, scope)
        return Flow.NEXT

    def _run_assign(self, node: ast.Assign, scope: Scope) -> Flow:
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)
        return Flow.NEXT

    def _run_annassign(self, node: ast.AnnAssign, scope: Scope) -> Flow:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, scope), scope)
        return Flow.NEXT

    def _run_augassign(self, node: ast.AugAssign, scope: Scope) -> Flow:
        as_read = ast.copy_location(ast.BinOp(left=node.target, op=node.op, right=node.value), node)
        self.assign(node.target, self._of_binop(as_read, scope), scope)
        return Flow.NEXT

    def _run_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Flow:
        self.state.memory.write(scope.fields, node.name, self.function_value(node, scope))
        return Flow.NEXT

    _run_asyncfunctiondef = _run_functiondef

    def _run_classdef(self, node: ast.ClassDef, scope: Scope) -> Flow:
        self.state.memory.write(scope.fields, node.name, self.class_value(node, scope))
        return Flow.NEXT

    def _run_import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> Flow:
        if star := self.state.project.star_file(scope.function.file, node):
            self.run_file(star)  # what it hands over is found by `global_name`, as all that no scope holds
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if alias.name != "*":
                self.state.memory.write(scope.fields, name, self.global_name(name, scope))
        return Flow.NEXT

    _run_importfrom = _run_import

    def _run_return(self, node: ast.Return, scope: Scope) -> Flow:
        value = self.evaluate(node.value, scope)
        if self._given_back:
            self._given_back[-1].append((value, self.state.guards))
        self._leap("return", node, scope)
        return Flow.RETURN

    def _run_raise(self, node: ast.Raise, scope: Scope) -> Flow:
        if node.exc is not None:
            self.evaluate(node.exc, scope)
        self._leap("raise", node, scope)
        return Flow.RAISE

    def _run_break(self, node: ast.Break | ast.Continue, scope: Scope) -> Flow:
        self._leap(type(node).__name__.lower(), node, scope)
        return _LEAPS[type(node)]

    _run_continue = _run_break

    def _leap(self, name: str, node: ast.AST, scope: Scope) -> None:
        if self.state.loops and self.state.guards:
            self.state.happened(name, node, scope.function)

    def _run_if(self, node: ast.If, scope: Scope) -> Flow:
        test = self.evaluate(node.test, scope)
        told = decided(test, self.state.guards)
        if told is not None:
            return self.block(node.body if told else node.orelse, scope)
        ways = [lambda: self.block(node.body, scope), lambda: self.block(node.orelse, scope)]
        return self._branches(node, test, ways, scope)

    def _run_match(self, node: ast.Match, scope: Scope) -> Flow:
        subject = self.evaluate(node.subject, scope)

        def way(at: int) -> Flow:
            if at == len(found):
                return Flow.NEXT
            case, told = found[at]
            if told:
                return self.block(case.body, scope)
            test = Made("match", args=(subject,), node=case.pattern, function=scope.function)
            ways = [lambda: self.block(case.body, scope), lambda: way(at + 1)]
            return self._branches(node, test, ways, scope)

        found = self.cases(node, subject, scope)
        return way(0)

    def _run_assert(self, node: ast.Assert, scope: Scope) -> Flow:
        self.evaluate(node.test, scope)
        return Flow.NEXT

    def _branches(self, node: ast.AST, test: Value, ways: Sequence[Callable[[], Flow]], scope: Scope) -> Flow:
        """Goes both ways; where one of them leaves, what comes behind happens the other way only."""
        state, around = self.state, self.state.guards
        marks = [Guard(node, test, taken, scope.function) for taken in (True, False)]

        def within(way: Callable[[], Flow], mark: Guard) -> Callable[[], Flow]:
            def go() -> Flow:
                state.guards = (*around, mark)
                return way()

            return go

        flows = state.memory.alternatives([within(way, mark) for way, mark in zip(ways, marks, strict=True)], (test,))
        state.guards = around
        left = [flow for flow in flows if flow is not Flow.NEXT]
        if len(left) == len(flows):
            return next((flow for flow in left if flow is not Flow.RAISE), Flow.RAISE)
        if left and left[0] is not Flow.RAISE:
            state.guards = (*around, marks[flows.index(Flow.NEXT)])
        return Flow.NEXT

    def either(self, node: ast.AST, test: Value, ways: Sequence[Callable[[], object]], scope: Scope) -> None:
        """Goes both ways of a test that nothing decides."""

        def plain(way: Callable[[], object]) -> Callable[[], Flow]:
            def go() -> Flow:
                way()
                return Flow.NEXT

            return go

        self._branches(node, test, [plain(way) for way in ways], scope)

    # ------------------------------------------------------------------ loops

    def _run_for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> Flow:
        flows: list[Flow] = []

        def body(item: Value) -> None:
            if Flow.BREAK in flows or Flow.RETURN in flows:
                return
            self.assign(node.target, item, scope)
            flows.append(self.block(node.body, scope))

        self.each(self.evaluate(node.iter, scope), node, body, scope)
        self.block(node.orelse, scope)
        return Flow.RAISE if flows[:1] == [Flow.RAISE] else Flow.NEXT

    _run_asyncfor = _run_for

    def each(self, value: Value, node: ast.AST, body: Callable[[Value], None], scope: Scope) -> bool:
        """Does something with each item of a value; of one whose items are not known, once, for all of them."""
        state = self.state
        loops, guards = state.loops, state.guards
        if isinstance(value, Generator):
            state.loops = (*loops, OpenLoop(node, value, scope.function))
            state.memory.depth += 1
            try:
                self.run_generator(value, body, node, scope)
            finally:
                state.loops, state.guards = loops, guards
                state.memory.depth -= 1
            return False
        if isinstance(value, (Instance, OneOf)) and self._iterates(value, node, body, scope):
            return False
        items, whole = library.items_of(value, node)
        if not (whole and isinstance(value, Items)):
            state.happened("iterate", node, scope.function, owner=value)
            self.read_loader(value, node, scope)
        state.loops = (*loops, OpenLoop(node, value, scope.function))
        state.memory.depth += not whole
        try:
            for one in items[:_MOST_ROUNDS]:
                body(one)
                state.guards = guards
        finally:
            state.loops, state.guards = loops, guards
            state.memory.depth -= not whole
        return whole and len(items) <= _MOST_ROUNDS

    def _iterates(self, value: Instance | OneOf, node: ast.AST, body: Callable[[Value], None], scope: Scope) -> bool:
        """Whether an object of the project says itself what a loop over it gets."""
        if not isinstance(value, Instance):
            return False
        method = self.of_object(value, "__iter__", node, scope)
        if method is None:
            return False
        found = self.call(method, (), {}, node, scope)
        if found is value:
            return False
        self.each(found, node, body, scope)
        return True

    def _run_while(self, node: ast.While, scope: Scope) -> Flow:
        self.state.memory.depth += 1  # what the body sets decides the test, too
        try:
            test = self.evaluate(node.test, scope)
        finally:
            self.state.memory.depth -= 1
        if truth(test) is False:
            return self.block(node.orelse, scope)
        state = self.state
        loops, guards = state.loops, state.guards
        state.loops = (*loops, OpenLoop(node, None, scope.function))
        state.memory.depth += 1
        try:
            flow = self.block(node.body, scope)
        finally:
            state.loops, state.guards = loops, guards
            state.memory.depth -= 1
        self.block(node.orelse, scope)
        return Flow.RAISE if flow is Flow.RAISE else Flow.NEXT


# The method that runs each kind of statement.
_RUNNERS: dict[type[ast.AST], Callable[[Any, Any, Scope], Flow]] = {
    kind: getattr(Interpreter, f"_run_{kind.__name__.lower()}")
    for kind in FIELDS
    if hasattr(Interpreter, f"_run_{kind.__name__.lower()}")
}
