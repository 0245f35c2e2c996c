"""What library functions mean to the values of a program: builtins, containers, what gives its object back. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from diagnostics.static.execution.values import (
    UNKNOWN,
    Const,
    Items,
    Made,
    Mapped,
    Name,
    OneOf,
    Value,
    joined,
    key_value,
)  # fmt: skip
from diagnostics.static.program.functions import Function

# Methods of modules and tensors whose result is the object, or a copy that stands for it.
ITSELF = frozenset(
    ["to", "cuda", "cpu", "train", "eval", "half", "float", "double", "bfloat16", "requires_grad_", "compile", "type",
     "share_memory", "pin_memory", "contiguous", "manual_seed", "to_empty", "apply"]
)  # fmt: skip
SAME_ITEMS = frozenset(
    ["list", "tuple", "sorted", "reversed", "iter", "set", "frozenset", "enumerate", "zip", "itertools.chain",
     "copy.copy", "copy.deepcopy", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.trange"]
)  # fmt: skip
LAUNCHERS = {
    "torch.multiprocessing.spawn": "fn", "torch.multiprocessing.start_processes": "fn", "fire.Fire": "component",
    "torch.multiprocessing.spawn.spawn": "fn", "absl.app.run": "main", "typer.run": "function", "tyro.cli": "f",
    "accelerate.notebook_launcher": "function",
}  # fmt: skip
WRAPPERS = frozenset(
    ["torch.nn.parallel.DistributedDataParallel", "torch.distributed.fsdp.FullyShardedDataParallel",
     "torch.nn.DataParallel"]
)  # fmt: skip
SAMPLER = "torch.utils.data.distributed.DistributedSampler"
LOADER = "torch.utils.data.DataLoader"
BATCHES = "torch.utils.data.BatchSampler"  # what a loader makes of a sampler
IN_ORDER, BY_CHANCE = "torch.utils.data.SequentialSampler", "torch.utils.data.RandomSampler"  # what it makes itself
# Classes to inherit from that bring no attributes of their own but these.
PLAIN_BASES = frozenset(
    ["object", "abc.ABC", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.utils.data.Sampler",
     "typing.Generic", "typing.Protocol"]
)  # fmt: skip
OF_PLAIN_BASES = frozenset(["functions", "register_function", "register_datapipe_as_function"])
_OF_LOADER = {"dataset": (0, "dataset"), "sampler": (3, "sampler"), "batch_sampler": (4, "batch_sampler")}


def attribute(made: Made, name: str) -> Value | None:
    """Returns what an attribute of a library's object is where that is what it was made with."""
    if made.name in WRAPPERS and name == "module":
        return made.argument(0, "module")
    if made.name == LOADER and name in _OF_LOADER:
        given = made.argument(*_OF_LOADER[name])
        if given is None and name == "batch_sampler" and (sampler := made.argument(3, "sampler")) is not None:
            return Made(BATCHES, args=(sampler,), node=made.node, function=made.function)
        return _own_sampler(made) if given is None and name == "sampler" else given
    if made.name == BATCHES and name == "sampler":
        return made.argument(0, "sampler")
    if made.name == "torch.compile" and name == "_orig_mod":
        return made.argument(0, "model")
    return None


def _own_sampler(loader: Made) -> Value | None:
    """Returns the sampler that a loader makes where it was given none, or one of whole batches."""
    shuffle = loader.argument(2, "shuffle")
    data = loader.argument(0, "dataset")
    if data is None or "**" in loader.keywords or not (shuffle is None or isinstance(shuffle, Const)):
        return None
    kind = BY_CHANCE if isinstance(shuffle, Const) and shuffle.value else IN_ORDER
    return Made(kind, args=(data,), node=loader.node, function=loader.function)


def has(made: Value, name: str) -> bool | None:
    """Whether a library's object has an attribute, None where it is not known."""
    if isinstance(made, Made) and made.name in (LOADER, BATCHES, IN_ORDER, BY_CHANCE) and name == "set_epoch":
        return False
    if isinstance(made, Made) and made.name == SAMPLER and name == "set_epoch":
        return True
    if isinstance(made, Made) and made.name in WRAPPERS and name == "module":
        return True
    return None


def items_of(value: Value, node: ast.AST, depth: int = 4) -> tuple[tuple[Value, ...], bool]:
    """Returns what a loop over a value gets, one after the other, and whether these are all and each."""
    if isinstance(value, Items):
        return value.items, not value.open
    if isinstance(value, Mapped):
        return tuple(key_value(key) for key in value.fields), not value.open
    if isinstance(value, Made) and depth:
        if value.name == "enumerate" and value.args:
            inner, all_of = items_of(value.args[0], node, depth - 1)
            numbered = (
                Items({"items": (Const(at) if all_of else Made("count", owner=value, node=node), one)})
                for at, one in enumerate(inner)
            )
            return tuple(numbered), all_of
        if value.name == "zip" and value.args:
            parts = [items_of(one, node, depth - 1) for one in value.args]
            all_of = all(whole for _, whole in parts)
            if all_of:
                return tuple(Items({"items": row}) for row in zip(*(each for each, _ in parts), strict=False)), True
            first = tuple(each[0] if each else UNKNOWN for each, _ in parts)
            return (Items({"items": first}),), False
        if value.name in SAME_ITEMS and value.args:
            inner, all_of = items_of(value.args[0], node, depth - 1)
            return inner, all_of and len(value.args) == 1
        if value.name == "range" and all(isinstance(one, Const) for one in value.args):
            numbers = [one.value for one in value.args if isinstance(one, Const)]
            if all(isinstance(one, int) for one in numbers) and 0 < len(range(*numbers)) <= 2:
                return tuple(Const(number) for number in range(*numbers)), True
    if isinstance(value, OneOf):
        found = [items_of(one, node, depth - 1) for one in value.options] if depth else []
        firsts = [each[0] for each, _ in found if each]
        return ((joined(firsts, value.tests),) if firsts else (Made("item", owner=value, node=node),)), False
    return (Made("item", owner=value, node=node),), False


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def computed(operator: str, left: Value, right: Value, node: ast.AST, function: Function | None = None) -> Value:
    """Returns the value of an operator; a number where both sides are."""
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return Const(_OPERATORS[operator](left.value, right.value))
        except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
            return Made(operator, args=(left, right), node=node, function=function)
    told = _compared(operator, left, right)
    if told is not None:
        return Const(told)
    if operator == "+" and isinstance(left, Items) and isinstance(right, Items):
        return Items({"items": left.items + right.items}, left.open or right.open)
    return Made(operator, args=(left, right), node=node, function=function)


# The types of numbers, by all their names.
_TYPES = {f"torch.{one}": f"torch.{one}" for one in (
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "float8_e4m3fn",
    "float8_e5m2")} | {
    "torch.half": "torch.float16", "torch.float": "torch.float32", "torch.double": "torch.float64",
    "torch.short": "torch.int16", "torch.int": "torch.int32", "torch.long": "torch.int64",
}  # fmt: skip


def _compared(operator: str, left: Value, right: Value) -> bool | None:
    """Returns how two names of a library compare, None where they may be names of one thing."""
    if operator in ("in", "not in") and isinstance(right, Items) and not right.open:
        told = [_compared("is", left, one) for one in right.items]
        found = True if True in told else None if None in told else False
        return found if found is None or operator == "in" else not found
    if operator not in ("is", "is not", "==", "!=") or not isinstance(left, Name) or not isinstance(right, Name):
        return None
    one, other = (_TYPES.get(each.name, each.name) for each in (left, right))
    if one != other and not (left.name in _TYPES and right.name in _TYPES):
        return None
    return (one == other) is (operator in ("is", "=="))


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b if not isinstance(a, str) or len(a) + len(b) < 1000 else a,
    "-": lambda a, b: a - b, "*": lambda a, b: a * b if _is_number(a) and _is_number(b) else a,
    "/": lambda a, b: a / b, "//": lambda a, b: a // b, "%": lambda a, b: a % b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b, "is": lambda a, b: a is b or a == b,
    "is not": lambda a, b: not (a is b or a == b), "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
