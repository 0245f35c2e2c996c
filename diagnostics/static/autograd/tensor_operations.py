"""What an expression does to the tensors in it: what backward keeps, what is a view, what is changed in place. Pure."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod

from diagnostics.static.autograd import operator_tables as tables
from diagnostics.static.autograd.tensor_state import AbstractState, AbstractTensor, EventKind, InplaceEvent, Saved
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.torch_code.module_classes import (
    WITH_WEIGHTS,
    ModuleClass,
    ModuleHierarchy,
    is_none,
    own_attribute,
)

Found = AbstractTensor | tuple[AbstractTensor | None, ...] | None
_PRODUCTS = (ast.Mult, ast.MatMult)


class TransferFunctions(ABC):
    """Reads expressions in a state and writes down events."""

    def __init__(
        self, function: Function, known: ModuleClass, tree: ModuleHierarchy, state: AbstractState, depth: int
    ) -> None:
        self.function = function
        self.tree = tree
        self.parts = tree.parts(known)
        self.state = state
        self.depth = depth
        self.off = 0
        self.events: list[InplaceEvent] = []
        self.kept: dict[str, InplaceEvent] = {}  # by the buffer's name
        self.changed_now: dict[AbstractTensor, tuple[ast.AST, str]] = {}

    def value(self, node: ast.AST | None) -> Found:
        """Returns what is known of the tensor an expression gives, after what it does."""
        handler = getattr(self, f"of_{type(node).__name__.lower()}", None)
        if handler is not None:
            found: Found = handler(node)
            return found
        for child in children(node) if node is not None else ():
            if isinstance(child, ast.expr) and not isinstance(node, (ast.Lambda, ast.ListComp, ast.GeneratorExp)):
                self.value(child)
        return None

    def of_name(self, node: ast.Name) -> Found:
        """A local name."""
        if node.id in self.state.stale and node.id in self.state.names:
            changed, layer = self.state.stale.pop(node.id)
            value = self.state.names[node.id]
            self.events.append(InplaceEvent(EventKind.READ_AFTER, changed, node.id, value, read=node, layer=layer))
        return self.state.names.get(node.id)

    def of_attribute(self, node: ast.Attribute) -> Found:
        """`self.scale`, `x.T`."""
        own = own_attribute(node)
        if own:
            return self.registered(own)
        base = self.value(node.value)
        if node.attr in ("T", "mT", "H", "mH") and isinstance(base, AbstractTensor):
            return AbstractTensor(grad=base.grad, base=base, view=node.attr)
        return None

    def registered(self, name: str) -> AbstractTensor | None:
        """Returns the parameter or buffer of that name."""
        known = self.state.names.get(f"self.{name}")
        if known is None and name in self.parts.parameters:
            made = self.parts.parameters[name]
            words = {one.arg: one.value for one in made.keywords} if isinstance(made, ast.Call) else {}
            known = AbstractTensor(grad="requires_grad" not in words and not is_none(made), kind="parameter")
        elif known is None and name in self.parts.buffers:
            known = AbstractTensor(kind="buffer")
        if known is not None:
            self.state.names[f"self.{name}"] = known
        return known

    def of_subscript(self, node: ast.Subscript) -> Found:
        """`x[:, 0]` is a view, `x[mask]` a copy."""
        base = self.value(node.value)
        self.value(node.slice)
        if isinstance(base, tuple):
            index = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return base[index] if isinstance(index, int) and -len(base) <= index < len(base) else None
        if not isinstance(base, AbstractTensor):
            return None
        if base.view == "parts":
            return AbstractTensor(grad=base.grad, base=base.base, view="several")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if all(isinstance(one, (ast.Slice, ast.Constant)) for one in parts):
            return AbstractTensor(grad=base.grad, base=base, view="index")
        return AbstractTensor(grad=base.grad)

    def of_tuple(self, node: ast.Tuple | ast.List) -> Found:
        """Several values."""
        found = [self.value(one) for one in node.elts]
        return tuple(one if isinstance(one, AbstractTensor) else None for one in found)

    of_list = of_tuple

    def of_starred(self, node: ast.Starred) -> Found:
        """What is unpacked."""
        self.value(node.value)
        return None

    def of_unaryop(self, node: ast.UnaryOp) -> Found:
        """`-x`."""
        inner = self.value(node.operand)
        return (
            AbstractTensor(grad=inner.grad)
            if isinstance(inner, AbstractTensor) and isinstance(node.op, ast.USub)
            else None
        )

    def of_ifexp(self, node: ast.IfExp) -> Found:
        """Either of two."""
        self.value(node.test)
        one, other = self.value(node.body), self.value(node.orelse)
        both = isinstance(one, AbstractTensor) and isinstance(other, AbstractTensor)
        return AbstractTensor(grad=one.grad and other.grad) if both else None  # type: ignore[union-attr]

    def of_binop(self, node: ast.BinOp) -> Found:
        """A product keeps its factors, a quotient its divisor, a power its base."""
        left, right = self.value(node.left), self.value(node.right)
        one = left if isinstance(left, AbstractTensor) else None
        other = right if isinstance(right, AbstractTensor) else None
        if isinstance(node.op, _PRODUCTS):
            return self.product(one, other, node)
        if isinstance(node.op, ast.Div) and other is not None and (other.grad or (one is not None and one.grad)):
            self.keep(other, "a quotient keeps its divisor", node)
        if isinstance(node.op, ast.Pow) and one is not None and one.grad:
            self.keep(one, "a power keeps its base", node)
        return self.fresh(one, other)

    def product(self, one: AbstractTensor | None, other: AbstractTensor | None, node: ast.AST) -> AbstractTensor | None:
        """Each factor is kept for the gradient of the other."""
        if one is not None and other is not None:
            if one.grad:
                self.keep(other, "the product keeps its factors", node)
            if other.grad:
                self.keep(one, "the product keeps its factors", node)
        return self.fresh(one, other)

    def fresh(self, *sources: AbstractTensor | None) -> AbstractTensor | None:
        """Returns a new tensor made of these, None where nothing is known of it."""
        known = [one for one in sources if one is not None]
        return AbstractTensor(grad=not self.off and any(one.grad for one in known)) if known else None

    def keep(self, value: AbstractTensor, text: str, node: ast.AST) -> None:
        """Backward needs this tensor as it is now."""
        if not self.off:
            self.state.saved[value.root] = Saved(text, node)

    def of_call(self, node: ast.Call) -> Found:
        """A layer of the model, a function of torch, or a method of a tensor."""
        function = node.func
        own = own_attribute(function)
        if own and own in self.parts.modules:
            values = self.arguments(node)
            return self.layer(own, self.parts.modules[own], values, node) if own not in self.parts.several else None
        name = self.tree.project.name(function, self.function)
        if name.startswith("torch."):
            return self.operation(last_name(function), self.arguments(node), node)
        base = self.value(function.value) if isinstance(function, ast.Attribute) else None
        values = self.arguments(node)
        if isinstance(base, AbstractTensor) and isinstance(function, ast.Attribute):
            return self.operation(function.attr, [base, *values], node)
        return None

    def arguments(self, node: ast.Call) -> list[Found]:
        """Returns what is known of the arguments."""
        found = [self.value(one) for one in node.args]
        for word in node.keywords:
            self.value(word.value)
        return found

    def operation(self, name: str, values: list[Found], node: ast.Call) -> Found:
        """Does one operation of torch on known tensors."""
        first = values[0] if values else None
        if isinstance(first, tuple):
            return self.fresh(*first) if name in tables.PASSES else None
        out = next((one.value for one in node.keywords if one.arg == "out"), None)
        target = self.value(out) if out is not None else None
        if isinstance(target, AbstractTensor):
            self.change(target, node, "out")
            return target
        if first is None:
            return None
        if _is_inplace(node, name) or (name.endswith("_") and not name.startswith("_")):
            self.keeps_graph(first, [one for one in values[1:] if isinstance(one, AbstractTensor)], node)
            return self.in_place(name, first, node)
        return self.functional(name, first, values, node)

    def keeps_graph(self, target: AbstractTensor, sources: list[AbstractTensor], node: ast.AST) -> None:
        """A buffer that takes in a tensor of the graph holds the graph of this step in the next one."""
        name = self.state.called(target.root)
        if target.root.kind == "buffer" and not self.off and any(one.grad for one in sources):
            self.kept[name] = InplaceEvent(EventKind.KEPT, node, name, target)

    def in_place(self, name: str, first: AbstractTensor, node: ast.Call) -> AbstractTensor:
        """`x.add_(...)`, `F.relu(x, inplace=True)`."""
        if name == "detach_":
            self.kept.pop(self.state.called(first), None)
        if _is_inplace(node, name):
            self.activate(first, node, f"{name}(inplace=True)")
        elif name not in tables.NOT_CHANGES:
            self.change(first, node, name)
        return first

    def functional(
        self, name: str, first: AbstractTensor, values: list[Found], node: ast.Call
    ) -> AbstractTensor | None:
        """An operation that gives a new tensor or a view."""
        others = [one for one in values[1:] if isinstance(one, AbstractTensor)]
        if name in tables.SEVERAL_VIEWS:
            return AbstractTensor(grad=first.grad, base=first, view="parts")
        if name in tables.VIEWS or name in tables.EXPANDS:
            return AbstractTensor(grad=first.grad and name != "detach", base=first, view=name)
        if name in tables.SAVES_FACTORS and others:
            return self.product(first, others[0], node)
        result = AbstractTensor(grad=first.grad and not self.off)
        if name in tables.SAVES_RESULT:
            if first.grad:
                self.keep(result, f"{name} keeps its result", node)
            return result
        if name in tables.SAVES_INPUT and first.grad:
            self.keep(first, f"{name} keeps its input", node)
        if name in tables.SAVES_INPUT or name in tables.PASSES:
            return self.fresh(first, *others)
        return None

    def layer(self, own: str, made: ast.expr, values: list[Found], node: ast.Call) -> Found:
        """Calls a module of the model."""
        first = values[0] if values and isinstance(values[0], AbstractTensor) else None
        name = self.tree.project.name(made.func, self.function) if isinstance(made, ast.Call) else ""
        kind = last_name(made)
        if isinstance(made, ast.Call) and kind == "Sequential" and name.startswith("torch.nn."):
            found: Found = first
            for inner in made.args:
                found = self.layer(own, inner, [found], node) if isinstance(inner, ast.Call) else None
            return found
        if name.startswith("torch.nn.") or (not name and kind in WITH_WEIGHTS):
            return self.torch_layer(own, kind, made, first, node)
        known = self.tree.named(made.func, self.function) if isinstance(made, ast.Call) else None
        if known is not None:
            self.project_layer(own, known, values, node)
            return AbstractTensor(grad=True) if _has_weights(known, self.tree) and not self.off else None
        return None

    def torch_layer(self, own: str, kind: str, made: ast.expr, first: AbstractTensor | None, node: ast.Call) -> Found:
        """Calls a layer of torch."""
        if kind in tables.ACTIVATIONS and isinstance(made, ast.Call) and _is_inplace(made, kind):
            if first is not None:
                self.activate(first, node, f"self.{own} ({ast.unparse(made)})")
            return first
        if kind in WITH_WEIGHTS and kind != "Embedding" and not _is_plain(made):
            if first is not None:
                self.keep(first, f"self.{own} ({kind}) keeps its input", node)
            return AbstractTensor(grad=not self.off)
        if kind == "Embedding":
            return AbstractTensor(grad=not self.off)
        function = tables.FUNCTION_OF_LAYER.get(kind)
        return self.functional(function, first, [first], node) if function and first is not None else None

    @abstractmethod
    def project_layer(self, own: str, known: ModuleClass, values: list[Found], node: ast.Call) -> None:
        """Calls a module of the project; who walks through methods says what it does to its inputs."""

    def activate(self, value: AbstractTensor, node: ast.AST, layer: str) -> None:
        """A layer works in place: who holds the tensor besides its result sees it changed."""
        self.change(value, node, "activation", layer)
        self.changed_now[value] = (node, layer)

    def change(self, value: AbstractTensor, node: ast.AST, how: str, layer: str = "") -> None:
        """A tensor is changed in place."""
        if value.view == "parts":
            return
        name = self.state.called(value) or self.state.called(value.root)
        several = next((one for one in value.views() if one.view == "several"), None)
        expanded = next((one for one in value.views() if one.view in tables.EXPANDS), None)
        why = self.state.saved.pop(value.root, None)
        kind = None
        if several is not None and several.base is not None and several.base.grad and not self.off:
            kind = EventKind.SEVERAL
        elif expanded is value and how not in tables.EXPANDED_BEARS and how != "activation":
            kind = EventKind.EXPANDED
        elif why is not None:
            kind = EventKind.SAVED
        if kind is not None:
            self.events.append(InplaceEvent(kind, node, name, value, saved=why, layer=layer))
        elif value.root.kind == "input" and how != "setitem":  # setting some items is mostly meant for the caller
            self.events.append(InplaceEvent(EventKind.INPUT, node, self.state.called(value.root), value, layer=layer))

    def is_key(self, node: ast.expr) -> bool:
        """Whether an index is a key of a dict."""
        return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_inplace(node: ast.Call, name: str) -> bool:
    words = {one.arg: one.value for one in node.keywords}
    said = words.get("inplace")
    if said is None and name in ("ReLU", "ReLU6", "SiLU", "relu") and node.args:
        said = node.args[0] if name != "relu" else node.args[1] if len(node.args) > 1 else None
    return isinstance(said, ast.Constant) and said.value is True


def _is_plain(made: ast.expr) -> bool:
    """Whether a norm was made without weights: its input is kept all the same, its output may have no gradient."""
    words = {one.arg: one.value for one in made.keywords} if isinstance(made, ast.Call) else {}
    return any(name in words and not (isinstance(words[name], ast.Constant) and words[name].value)  # type: ignore[attr-defined]
               for name in ("affine", "elementwise_affine"))  # fmt: skip


def _has_weights(known: ModuleClass, tree: ModuleHierarchy, depth: int = 3) -> bool:
    parts = tree.parts(known)
    if parts.parameters and depth:
        return True
    for made in parts.modules.values():
        inner = tree.named(made.func, known.module) if isinstance(made, ast.Call) else None
        names = [last_name(one) for one in walk(made) if isinstance(one, ast.Call)]
        if any(name in WITH_WEIGHTS for name in names) or (inner and depth and _has_weights(inner, tree, depth - 1)):
            return True
    return False
