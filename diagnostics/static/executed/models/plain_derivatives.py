"""Derivatives by an input that are taken without a graph of their own, and are measured in a loss. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import MOST_SEEN, Const, Instance, Made, Value, made_of, same, sources

_GRAD, _BACKWARD = "torch.autograd.grad", "backward"
_PRODUCTS = ("*", "/", "torch.mul", "torch.div")
_CREATE, _PARAMETERS = (4, "create_graph"), (".parameters", ".named_parameters", ".weight", ".bias")
# No gradient comes back through these anyway, or was asked to.
_CUTS = frozenset([".detach", ".detach_", ".item", ".data", ".tolist", ".numpy", ".sign", "torch.sign", ".argmax",
                   "float", "int", "torch.tensor", "<", ">", "<=", ">=", "==", "!=", ".shape", ".size", "len",
                   ".zero_", "torch.zeros_like", "torch.ones_like", ".requires_grad_"])  # fmt: skip
# What makes an error of a number: a sum of products with a gradient may be meant to hand that gradient on.
_MEASURES = re.compile(
    r"^(?:\*\*|\.pow|\.square|\.abs|\.norm|torch\.(?:pow|square|abs|norm|linalg\.\w{0,30}norm))$|"
    r"^torch\.nn\.functional\.\w{0,40}loss$|^torch\.nn\.(?:modules\.loss\.)?\w{0,40}Loss$"
)


def plain_derivatives(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (derivative, backward pass that its error is a part of), each call once."""
    taken = {id(one.value): one for one in execution.named(_GRAD) if one.value is not None and _is_plain(one)}
    told: set[int] = set()
    for one in execution.events if taken else ():
        if one.name.rpartition(".")[2] != _BACKWARD or one.without_gradients:
            continue
        loss = one.argument(0, "loss") if one.args else one.owner
        for key in _measured(loss, execution, taken.keys()):
            found = taken[key]
            if id(found.node) not in told:
                told.add(id(found.node))
                yield found, one


def _is_plain(event: Event) -> bool:
    """Whether a derivative by what the model was given is computed without a graph of its own."""
    create = event.argument(*_CREATE)
    if event.without_gradients or (create is not None and not (isinstance(create, Const) and create.value is False)):
        return False
    by = event.argument(1, "inputs")
    given = [one for one in sources(by) if isinstance(one, Made)]
    if by is None or not given or any(one.name in _PARAMETERS for one in given):
        return False
    wanted = set(map(id, given))
    return any(
        isinstance(one, Made)
        and one.name == "()"
        and any(id(each) in wanted for arg in one.args for each in sources(arg))
        for one in sources(event.argument(0, "outputs"))
    )


def _measured(loss: Value | None, execution: Execution, wanted: Collection[int]) -> Iterator[int]:
    """Yields which of these derivatives are behind a measure in a loss, and not behind a call of a model."""
    waiting: list[tuple[Value | None, bool]] = [(loss, False)]
    seen = set[tuple[int, bool]]()
    without = {id(one.value) for one in execution.events if one.without_gradients}
    while waiting and len(seen) < MOST_SEEN:
        one, measured = waiting.pop()
        key = (id(one), measured)
        if one is None or key in seen or id(one) in without:
            continue
        seen.add(key)
        if not isinstance(one, Made):
            waiting += [(each, measured) for each in made_of(one)]
            continue
        if one.name == _GRAD:
            if measured and id(one) in wanted:
                yield id(one)
            continue  # what it is the derivative of is no part of the loss
        if one.name in _CUTS:
            continue
        if one.name == "()":
            waiting += _behind_call(one, measured, execution)
            continue
        measured = measured or bool(_MEASURES.match(one.name)) or _is_square(one)
        if one.name in _PRODUCTS and not measured:
            waiting += [(each, False) for each in one.args if not _weighs(each, one.args)]
            continue
        parts = [one.owner, *one.args] if one.name != "[]" else [one.owner]
        waiting += [(each, measured) for each in (*parts, *one.keywords.values())]


def _behind_call(call: Made, measured: bool, execution: Execution) -> list[tuple[Value | None, bool]]:
    """Returns what a loss is given; of an object of the program's what its forward gave of its own."""
    if id(call) in execution.forwards:
        inner = execution.forwards[id(call)][1]
        return [(inner, measured)] if isinstance(call.owner, Instance) and not any(map(_holds, call.args)) else []
    is_loss = isinstance(call.owner, Made) and bool(_MEASURES.match(call.owner.name))
    return [(each, True) for each in call.args] if is_loss else []


def _is_square(product: Made) -> bool:
    return product.name in _PRODUCTS and len(product.args) == 2 and same(product.args[0], product.args[1])


def _weighs(value: Value, factors: Sequence[Value]) -> bool:
    """Whether a factor holds a derivative and may be the weight of what a model computed, or is handed on by it."""
    return _holds(value) and any(_is_of_model(each) for each in factors if each is not value)


def _is_of_model(value: Value) -> bool:
    """Whether something that a model computed is in a value, beside derivatives."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if id(one) in seen or (isinstance(one, Made) and one.name == _GRAD):
            continue
        seen.add(id(one))
        if isinstance(one, Made) and one.name == "()" and not _MEASURES.match(getattr(one.owner, "name", "")):
            return True
        waiting += [each for each in made_of(one) if each is not None]
    return False


def _holds(value: Value) -> bool:
    """Whether a derivative is in a value: a step in the input's space, as adversarial examples are made by."""
    return any(isinstance(one, Made) and one.name == _GRAD for one in sources(value))
