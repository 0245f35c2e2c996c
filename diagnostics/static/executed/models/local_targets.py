"""Contrastive losses of a rank's own features with those of all ranks, and where their targets begin. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import UNKNOWN, Class, Const, Items, Made, Value, options, sources

_LOSS = "torch.nn.functional.cross_entropy"
_LOSS_CLASS = "torch.nn.CrossEntropyLoss"
PRODUCTS = frozenset(["@", "torch.matmul", "torch.mm", ".matmul", ".mm", "torch.nn.functional.linear"])
SCALED = frozenset(["*", "/", "+", "-", "torch.mul", "torch.div"])
# What leaves the order of the rows as it is, turns a matrix over or puts the ranks' parts behind each other.
KEEPS = frozenset(
    [".T", ".t", ".mT", ".transpose", ".contiguous", ".float", ".to", ".type", ".view", ".reshape", ".flatten", ".long",
     ".cuda", ".half", ".bfloat16", ".type_as", ".detach"]
)  # fmt: skip
KEEPS_FIRST = frozenset(["torch.nn.functional.normalize", "torch.t", "torch.transpose"])
JOINS = frozenset(["torch.cat", "torch.concat", "torch.vstack", "torch.stack"])
_GATHERS = frozenset([f".{one}" for one in operations.GATHERED_TENSORS])
_FILLS = frozenset([f"torch.distributed.{one}" for one in operations.GATHERED_TENSORS])  # what they are given first
_DEPTH = 8


def targets_without_rank(execution: Execution) -> Iterator[tuple[Event, Made, Made, Made]]:
    """Yields (loss, product, gathered features, targets) where the targets of each rank begin at 0.

    Row i of a rank's own features belongs to column `rank * n + i` among those of all ranks.
    """
    filled = [one.args[0] for one in execution.events if one.args and one.name in _FILLS]
    for loss in execution.events:
        if not is_loss(loss):
            continue
        logits, target = loss.argument(0, "input"), loss.argument(1, "target")
        counted = _counted(target)
        for product in _products(logits, _DEPTH) if counted is not None else ():
            left, right = sides(product)
            gathered = _gathered(right, filled, _DEPTH)
            if gathered is not None and counted is not None and _is_own(left, filled):
                yield loss, product, gathered, counted
                break


def is_loss(event: Event) -> bool:
    """Whether an event is a cross entropy."""
    is_module = event.name == "()" and isinstance(event.owner, Made) and event.owner.name == _LOSS_CLASS
    return event.name == _LOSS or is_module


def _tail(name: str) -> str:
    return name.rpartition(".")[2]


def _counted(target: Value | None) -> Made | None:
    """Returns the arange() that targets are, in each case, from 0 on; None where a case is something else."""
    found = [_inner(one) for one in options(target)]
    if not found or not all(one is not None and one.name == "torch.arange" for one in found):
        return None
    starts = [one.args[0] for one in found if one is not None and len(one.args) > 1]
    starts += [one.keywords["start"] for one in found if one is not None and "start" in one.keywords]
    return found[0] if all(isinstance(one, Const) and one.value == 0 for one in starts) else None


def _inner(value: Value) -> Made | None:
    for _ in range(_DEPTH):
        if not isinstance(value, Made) or value.name not in KEEPS or value.owner is None:
            break
        value = value.owner
    return value if isinstance(value, Made) else None


def _products(value: Value | None, depth: int) -> Iterator[Made]:
    """Yields the matrix products that logits may be, but for a factor."""
    for one in options(value) if depth else ():
        if not isinstance(one, Made):
            continue
        if one.name in PRODUCTS:
            yield one
        elif one.name in SCALED:
            for part in one.args:
                yield from _products(part, depth - 1)


def sides(product: Made) -> tuple[Value | None, Value | None]:
    """Returns what a matrix product multiplies."""
    given = [product.owner, *product.args] if product.name.startswith(".") else [*product.args]
    return (given[0], given[1]) if len(given) > 1 else (None, None)


def _gathered(value: Value | None, filled: list[Value], depth: int) -> Made | None:
    """Returns what gathers, where a value is the parts of all ranks in the order of the ranks."""
    for one in options(value) if depth else ():
        if isinstance(one, Made):
            if gathers(one) or any(one is each for each in filled):
                return one
            inner = one.owner if one.name in KEEPS else None
            if one.name in JOINS or one.name in KEEPS_FIRST:
                inner = one.args[0] if one.args else None
                if isinstance(inner, Items) and any(inner is each for each in filled):
                    return one
            found = _gathered(inner, filled, depth - 1) if inner is not None else None
            if found is not None:
                return found
    return None


def gathers(made: Made) -> bool:
    """Whether a value is what all ranks gave to a gather."""
    if made.name.startswith("torch.distributed.") or made.name in _GATHERS:
        return _tail(made.name) in operations.GATHERED_TENSORS or _tail(made.name).startswith("all_gather_tensor")
    if made.name == ".gather":
        return isinstance(made.owner, Made) and made.owner.name == "accelerate.Accelerator"
    return made.name == ".apply" and isinstance(made.owner, Class) and "gather" in made.owner.kind.name.lower()


def _is_own(value: Value | None, filled: list[Value]) -> bool:
    """Whether a value is surely of the rank alone: all that it is made of is known, and nothing of it was gathered."""
    if value is None:
        return False
    return not any(
        one is UNKNOWN or (isinstance(one, Made) and gathers(one)) or any(one is each for each in filled)
        for one in sources(value)
    )
