"""`with` and `try` on values that are not known. Pure."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Sequence

from diagnostics.static.execution.events import Guard, TriedBlock
from diagnostics.static.execution.memory import Flow
from diagnostics.static.execution.patterns import Patterns
from diagnostics.static.execution.values import UNKNOWN, Generator, Instance, Made, Scope, Value


class Blocks(Patterns):
    """What is around statements."""

    @abstractmethod
    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> Flow:
        """Runs statements one after the other, to the first that leaves."""

    def _run_with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> Flow:
        return self._with(node.items, node.body, scope)

    _run_asyncwith = _run_with

    def _with(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt], scope: Scope) -> Flow:
        if not items:
            return self.block(body, scope)
        context = self.evaluate(items[0].context_expr, scope)
        target, state, contexts = items[0].optional_vars, self.state, self.state.contexts
        flows: list[Flow] = []

        def inside(value: Value) -> None:
            if target is not None:
                self.assign(target, value, scope)
            flows.append(self._with(items[1:], body, scope))

        if isinstance(context, Generator):
            self.run_generator(context, inside, items[0].context_expr, scope)
            return flows[0] if flows else self._with(items[1:], body, scope)
        entered = (
            self.of_object(context, "__enter__", items[0].context_expr, scope)
            if isinstance(context, Instance)
            else None
        )
        value = self.call(entered, (), {}, items[0].context_expr, scope) if entered is not None else context
        state.contexts = (*contexts, context)
        try:
            inside(value)
        finally:
            state.contexts = contexts
        if isinstance(context, Instance):
            left = self.of_object(context, "__exit__", items[0].context_expr, scope)
            if left is not None:
                self.call(left, (UNKNOWN, UNKNOWN, UNKNOWN), {}, items[0].context_expr, scope)
        return flows[0] if flows else Flow.NEXT

    def _run_try(self, node: ast.Try, scope: Scope) -> Flow:
        state, tries, around = self.state, self.state.tries, self.state.guards
        state.tries = (*tries, TriedBlock(node, scope.function, state.loops))
        flow = self.block(node.body, scope)
        state.tries = tries
        ways: list[Callable[[], Flow]] = [lambda: self.block(node.orelse, scope) if flow is Flow.NEXT else flow]
        for one in node.handlers:
            ways.append(self._handler(one, scope, around))
        flows = state.memory.alternatives(ways, ()) if node.handlers else [ways[0]()]
        after = [one for one in flows if one is not Flow.NEXT]
        state.guards = around if node.handlers else state.guards
        last = self.block(node.finalbody, scope)
        if last is not Flow.NEXT:
            return last
        if flows[0] is not Flow.NEXT and all(one is Flow.RAISE or one is not Flow.NEXT for one in flows[1:]):
            return next((one for one in after if one is not Flow.RAISE), Flow.RAISE)
        return Flow.NEXT

    _run_trystar = _run_try

    def _handler(self, node: ast.ExceptHandler, scope: Scope, around: tuple[Guard, ...]) -> Callable[[], Flow]:
        def go() -> Flow:
            error = Made("exception", node=node, function=scope.function)
            self.state.guards = (*around, Guard(node, error, True, scope.function, handler=True))
            if node.name:
                self.state.memory.write(scope.fields, node.name, error)
            return self.block(node.body, scope)

        return go
