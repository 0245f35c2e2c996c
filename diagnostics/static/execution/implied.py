"""What runs with a call that does not name it: `forward`, the data set and collate function of a loader. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from diagnostics.static.execution.assignments import Assignments
from diagnostics.static.execution.events import NO_GRAD
from diagnostics.static.execution.library import LOADER, SAME_ITEMS, WRAPPERS
from diagnostics.static.execution.state import RunState
from diagnostics.static.execution.values import Generator, Instance, Made, Partial, Procedure, Scope, Value

WORKER = "data worker"  # the context of what a loader reads; its owner is the loader
_CONTAINERS = frozenset(["torch.nn.Sequential", "torch.nn.ModuleList"])
_OUTER = WRAPPERS | {"torch.compile", "torch.jit.script"}


class ImpliedCalls(Assignments):
    """Runs each of them once: what it gives is not known, what it does is."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._entered_once: set[Any] = set()

    def forward(
        self, model: Value, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value | None:
        """Runs `forward` of a model that was called, once in training and once without gradients; returns its result.

        None where it was run before, or is none of the project's.
        """
        while isinstance(model, Made) and model.name in _OUTER and (inner := model.argument(0, "module")) is not None:
            model = inner
        if isinstance(model, Made) and model.name in _CONTAINERS:
            for one in model.args:
                self.forward(one, (), {}, node, scope)
            return None
        if not isinstance(model, Instance) or not self.is_model(model):
            return None
        method = self.of_object(model, "forward", node, scope)
        gradients = not any(isinstance(one, Made) and one.name in NO_GRAD for one in self.state.contexts)
        if not isinstance(method, Procedure) or not self._is_first((id(method.function), gradients)):
            return None
        return self._aside(method, args, keywords, node, scope)

    def read_loader(self, loop: Value, node: ast.AST, scope: Scope) -> None:
        """Runs what the workers of a loader run, where a loop over it begins."""
        for _ in range(6):
            if not isinstance(loop, Made) or loop.name == LOADER or loop.name not in SAME_ITEMS or not loop.args:
                break
            for other in loop.args[1:]:  # `zip(range(steps), loader)`, `zip(labelled, unlabelled)`
                self.read_loader(other, node, scope)
            loop = loop.args[0]
        if not isinstance(loop, Made) or loop.name != LOADER or not self._is_first(id(loop)):
            return
        for place, key in ((3, "sampler"), (4, "batch_sampler")):
            sampler = loop.argument(place, key)
            method = self.of_object(sampler, "__iter__", node, scope) if isinstance(sampler, Instance) else None
            if isinstance(method, Procedure):
                self._aside(method, (), {}, node, scope)  # in the process that reads the loader
        contexts = self.state.contexts
        self.state.contexts = (*contexts, Made(WORKER, owner=loop, node=node))
        try:
            data = loop.argument(0, "dataset")
            for name in ("__getitem__", "__iter__") if isinstance(data, Instance) else ():
                method = self.of_object(data, name, node, scope)  # type: ignore[arg-type] # an Instance
                if isinstance(method, Procedure):
                    self._aside(method, (Made("index", node=node),) if name == "__getitem__" else (), {}, node, scope)
            for place, key in ((7, "collate_fn"), (11, "worker_init_fn")):
                given = loop.argument(place, key)
                if given is not None:
                    self._aside(given, (Made("samples", node=node),), {}, node, scope)
        finally:
            self.state.contexts = contexts

    def _aside(
        self, callee: Value, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value | None:
        """Runs a function of the project whose result the library has, and returns it."""
        if not isinstance(callee, (Procedure, Instance, Partial)) or (
            isinstance(callee, Instance) and self.is_model(callee)
        ):
            return None
        state = self.state
        around = state.guards, state.loops, state.tries
        found = self.call(callee, args, keywords, node, scope)
        if isinstance(found, Generator):
            self.run_generator(found, lambda _: None, node, scope)
        state.guards, state.loops, state.tries = around
        return found

    def _is_first(self, key: Any) -> bool:
        if key in self._entered_once:
            return False
        self._entered_once.add(key)
        return True
