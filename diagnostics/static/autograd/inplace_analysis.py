"""Walks the methods of a model in order and says which changes in place meet a tensor that backward needs. Pure.

Only what holds on every way to a statement counts, and only tensors that provably take part in the graph: outputs of
layers with weights. What is unknown is taken to be harmless.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from diagnostics.static.autograd.grad_mode import is_off, turns_off
from diagnostics.static.autograd.tensor_operations import Found, TransferFunctions
from diagnostics.static.autograd.tensor_state import AbstractState, AbstractTensor, EventKind, InplaceEvent, merged
from diagnostics.static.program import ast_walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.module_classes import ModuleClass, class_tree, own_attribute


class InplaceAnalysis(TransferFunctions):
    """One walk through one method of a model."""

    def run(self) -> tuple[InplaceEvent, ...]:
        """Returns the changes in place that matter, in the order of the source."""
        if isinstance(self.function.syntax, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for name in self.function.parameters[1:]:
                self.state.bind(name, AbstractTensor(kind="input"))
            self.block(self.function.syntax.body)
        return (*self.events, *self.kept.values())

    def project_layer(self, own: str, known: ModuleClass, values: list[Found], node: ast.Call) -> None:
        """Calls a module of the project: what it does to its inputs in place happens here."""
        project = self.tree.project
        forward = next((one for one in project.functions_in(known.file) if one.owner is known.syntax
                        and one.name.endswith(".forward")), None)  # fmt: skip
        if forward is None or self.depth <= 0:
            return
        changed = inputs_changed(forward, project, self.depth - 1)
        for name, value in zip(forward.parameters[1:], values, strict=False):
            if name in changed and isinstance(value, AbstractTensor):
                self.activate(value, node, f"self.{own} ({known.syntax.name}.forward, {known.file.shown}:"
                              f"{getattr(changed[name].node, 'lineno', 1)})")  # fmt: skip

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Walks statements until one leaves."""
        for statement in statements:
            if not self.state.alive:
                return
            self.changed_now = {}
            handler = getattr(self, f"on_{type(statement).__name__.lower()}", None)
            if handler is not None:
                handler(statement)
            else:
                self.on_other(statement)

    def on_assign(self, statement: ast.Assign) -> None:
        """`x = ...`, `x[...] = ...`, `a, b = ...`."""
        found = self.value(statement.value)
        for target in statement.targets:
            self.assign(target, found)
        self.settle([one.id for one in statement.targets if isinstance(one, ast.Name)])

    def assign(self, target: ast.expr, found: AbstractTensor | tuple[AbstractTensor | None, ...] | None) -> None:
        """Binds one target."""
        if isinstance(target, (ast.Tuple, ast.List)):
            parts: Sequence[AbstractTensor | None] = found if isinstance(found, tuple) else (None,) * len(target.elts)
            starred = any(isinstance(one, ast.Starred) for one in target.elts)
            if starred or (isinstance(found, tuple) and len(found) != len(target.elts)):
                parts = (None,) * len(target.elts)
            if isinstance(found, AbstractTensor) and found.view == "parts":
                parts = tuple(AbstractTensor(grad=found.grad, base=found.base, view="several") for _ in target.elts)
            for one, part in zip(target.elts, parts, strict=False):
                self.assign(one, part)
        elif isinstance(target, ast.Name):
            self.state.bind(target.id, found if isinstance(found, AbstractTensor) else None)
        elif isinstance(target, ast.Subscript):
            base = self.value(target.value)
            if isinstance(base, AbstractTensor) and not self.is_key(target.slice):
                self.change(base, target, "setitem")
        elif own_attribute(target):
            self.assign_own(target, own_attribute(target), found if isinstance(found, AbstractTensor) else None)

    def assign_own(self, target: ast.expr, name: str, found: AbstractTensor | None) -> None:
        """`self.mean = ...`: a buffer may be given another tensor."""
        self.kept.pop(f"self.{name}", None)
        self.state.bind(f"self.{name}", found)
        if name in self.parts.buffers and found is not None and found.grad and found.kind != "parameter":
            self.kept[f"self.{name}"] = InplaceEvent(EventKind.KEPT, target, f"self.{name}", found)

    def on_annassign(self, statement: ast.AnnAssign) -> None:
        """`x: Tensor = ...`."""
        if statement.value is not None:
            self.assign(statement.target, self.value(statement.value))
            self.settle([statement.target.id] if isinstance(statement.target, ast.Name) else [])

    def on_augassign(self, statement: ast.AugAssign) -> None:
        """`x += y`, `x[...] *= y`."""
        other = self.value(statement.value)
        target = statement.target.value if isinstance(statement.target, ast.Subscript) else statement.target
        keyed = isinstance(statement.target, ast.Subscript) and self.is_key(statement.target.slice)
        value = self.value(target)
        if isinstance(value, AbstractTensor) and not keyed:
            self.keeps_graph(value, [other] if isinstance(other, AbstractTensor) else [], statement)
            self.change(value, statement, "setitem" if target is not statement.target else "augmented")
            if isinstance(other, AbstractTensor) and other.grad and not value.grad and isinstance(target, ast.Name):
                why = self.state.saved.get(value.root)
                self.state.bind(target.id, fresh := AbstractTensor(grad=True, kind=value.kind))
                if why is not None:
                    self.state.saved[fresh] = why
        self.settle([])

    def on_expr(self, statement: ast.Expr) -> None:
        """A call by itself: what it changes is meant to be changed."""
        self.value(statement.value)
        direct = statement.value
        names = [ast.unparse(one) for one in direct.args] if isinstance(direct, ast.Call) else []
        self.settle(names)

    def on_return(self, statement: ast.Return) -> None:
        """The way ends."""
        if statement.value is not None:
            self.value(statement.value)
        self.state.alive = False

    def on_raise(self, statement: ast.Raise) -> None:
        """The way ends."""
        self.state.alive = False

    def on_continue(self, statement: ast.Continue) -> None:
        """The way ends."""
        self.state.alive = False

    def on_break(self, statement: ast.Break) -> None:
        """The way ends."""
        self.state.alive = False

    def on_if(self, statement: ast.If) -> None:
        """Both branches from what held before."""
        self.value(statement.test)
        self.settle([])
        before = self.state.copy()
        self.block(statement.body)
        first, self.state = self.state, before
        self.block(statement.orelse)
        self.state = merged(first, self.state)

    def on_for(self, statement: ast.For) -> None:
        """The first turn, and no turn."""
        self.value(statement.iter)
        self.loop(statement, [one.id for one in ast_walk.walk(statement.target) if isinstance(one, ast.Name)])

    def on_while(self, statement: ast.While) -> None:
        """The first turn, and no turn."""
        self.value(statement.test)
        self.loop(statement, [])

    def loop(self, statement: ast.For | ast.While, names: list[str]) -> None:
        """Walks a loop's body once."""
        before = self.state.copy()
        for name in names:
            self.state.bind(name, None)
        self.block(statement.body)
        self.state = merged(before, self.state)
        self.state.alive = True
        self.block(statement.orelse)

    def on_with(self, statement: ast.With) -> None:
        """no_grad around the body counts."""
        off = any(turns_off(item.context_expr) for item in statement.items)
        for item in statement.items:
            if isinstance(item.optional_vars, ast.Name):
                self.state.bind(item.optional_vars.id, None)
        self.off += off
        self.block(statement.body)
        self.off -= off

    def on_try(self, statement: ast.Try) -> None:
        """After it only what held before and after its body is known."""
        before = self.state.copy()
        self.block(statement.body)
        self.state = merged(before, self.state)
        self.state.alive = True
        self.block(statement.finalbody)

    def on_delete(self, statement: ast.Delete) -> None:
        """The names are gone."""
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self.state.bind(target.id, None)

    def on_other(self, statement: ast.stmt) -> None:
        """Anything that is not followed forgets what it may assign."""
        for node in ast_walk.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.state.bind(node.id, None)

    def settle(self, bound: list[str]) -> None:
        """After a statement: names other than those it bound are stale where an activation changed their tensor."""
        for value, (node, layer) in self.changed_now.items():
            for name in self.state.sharing(value):
                if name not in bound and not name.startswith("self."):
                    self.state.stale[name] = (node, layer)
        self.changed_now = {}


@lru_cache(maxsize=4096)
def inplace_events(function: Function, project: Project, depth: int = 2) -> tuple[InplaceEvent, ...]:
    """Returns the changes in place in a method of a model that autograd or a reader does not bear."""
    tree = class_tree(project)
    known = tree.of_method(function)
    if known is None or not tree.is_module(known) or function.name.endswith("__init__"):
        return ()
    file = project.file_with(function)
    if is_off(function.syntax, function, file):
        return ()
    walk = InplaceAnalysis(function, known, tree, AbstractState(), depth)
    return walk.run()


def runs_in_training(function: Function) -> bool:
    """Whether a method is forward or one that a method of its class calls: others may be for inference only."""
    name = function.name.rpartition(".")[2]
    calls = (node for node in ast_walk.walk(function.owner) if isinstance(node, ast.Call)) if function.owner else ()
    return name == "forward" or any(own_attribute(call.func) == name for call in calls)


def inputs_changed(function: Function, project: Project, depth: int) -> dict[str, InplaceEvent]:
    """Returns the changes in place of a method's own inputs, by parameter."""
    events = inplace_events(function, project, depth)
    return {one.name: one for one in events if one.kind is EventKind.INPUT}
