"""Gradients that are averaged over the ranks and divided by what all ranks counted together. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.steps.plateau import averages
from diagnostics.static.executed.training import operation, parameters_of, wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import MOST_SEEN, Const, Made, Name, Value, made_of, sources

_SHARDS = frozenset(["torch.distributed.fsdp.fully_shard", "torch.distributed._composable.fsdp.fully_shard",
                     "torch.distributed._composable.fsdp.fully_shard.fully_shard"])  # fmt: skip
_SCALES = {".mul_": False, ".div_": True}
_FOREACH = {"torch._foreach_mul_": False, "torch._foreach_div_": True}
# What lets gradients be summed, or averaged otherwise than by the number of ranks.
_OTHERWISE = re.compile(r"register_comm_hook|divide_factor|force_sum_reduction|average_gradients|scatter_mean")
_RANKS = re.compile(r"world|replica|num_proc|n_?gpus?\b|num_?gpus|num_devices|(?:^|[._])dp_?(?:size|degree)?$|degree",
                    re.IGNORECASE)  # fmt: skip
# What a loss goes through on its way to backward, as a whole.
_THROUGH = frozenset(["*", "+", ".scale", ".to", ".float"])
_GIVEN = frozenset(["item", "next", "()"])  # by a loader, by a model
_DEEP = 8


def divided_by_all(execution: Execution) -> Iterator[tuple[Event, Value, Event]]:
    """Yields (scaling of gradients or backward, the quotient in it, the sum over all ranks of what it divides by)."""
    events = execution.events
    summed = {id(one.args[0]): one for one in events if operation(one) in operations.SUMS_FOR_ALL and one.args
              and not averages(one) and "group" not in one.keywords and len(one.args) < 3
              and _counts_samples(one.args[0])}  # fmt: skip
    if not summed or any(_OTHERWISE.search(one.name) for one in events):
        return
    scaled = [(one, factor, how) for one in events if (factor := _factor(one)) is not None
              for how in (_SCALES.get(one.name, _FOREACH.get(one.name, False)),)]  # fmt: skip
    averaged = [one for one in events if one.name == ".backward" and _is_averaged(one.owner, execution)]
    if any(_has_ranks(factor) for _, factor, _ in scaled) or any(_has_ranks(one.owner) for one in averaged):
        return
    for one, factor, divides in scaled if averaged else ():
        quotient = factor if divides else next(_quotients(factor), None)
        below = factor if divides else quotient.args[1] if isinstance(quotient, Made) else None
        found = next((summed[id(each)] for each in sources(below) if id(each) in summed), None)
        if quotient is not None and found is not None:
            yield one, quotient, found
    for one in averaged:
        for quotient in _quotients(one.owner):
            found = next((summed[id(each)] for each in sources(quotient.args[1]) if id(each) in summed), None)
            if found is not None:
                yield one, quotient, found
                break


def _counts_samples(value: Value) -> bool:
    """Whether a number is made of what a loop over data gives."""
    return any(isinstance(one, Made) and one.name in ("item", "next") for one in sources(value))


def _factor(event: Event) -> Value | None:
    """Returns what the gradients of a model are multiplied or divided by."""
    if event.name in _FOREACH and len(event.args) == 2:
        grads = any(isinstance(one, Made) and one.name == ".grad" for one in sources(event.args[0]))
        return event.args[1] if grads else None
    if event.name not in _SCALES or not event.args:
        return None
    grad = event.owner
    while isinstance(grad, Made) and grad.name == ".data":
        grad = grad.owner
    is_grad = isinstance(grad, Made) and grad.name == ".grad" and parameters_of(grad.owner) is not None
    return event.args[0] if is_grad else None


def _is_averaged(loss: Value | None, execution: Execution) -> bool:
    """Whether the gradients of a loss are averaged over the ranks: of a model in DDP, FSDP or behind fully_shard."""
    sharded = {id(one.args[0]) for one in execution.events if one.name in _SHARDS and one.args}
    for one in sources(loss):
        if isinstance(one, Made) and one.name == "()":
            wrapper = wrapper_of(one.owner)
            if id(one.owner) in sharded or (wrapper is not None and wrapper.name != "torch.nn.DataParallel"):
                return True
    return False


def _quotients(value: Value | None) -> Iterator[Made]:
    """Yields the divisions by which a value as a whole is made."""
    waiting: list[tuple[Value | None, int]] = [(value, _DEEP)]
    while waiting:
        one, depth = waiting.pop()
        if not isinstance(one, Made) or not depth:
            continue
        if one.name == "/" and len(one.args) == 2:
            yield one
            waiting.append((one.args[0], depth - 1))
        elif one.name in _THROUGH:
            waiting += [(each, depth - 1) for each in (one.owner, *one.args)]


def _has_ranks(value: Value | None) -> bool:
    """Whether the number of ranks has to do with a value, other than with which samples it was computed from."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        text = one.value if isinstance(one, Const) else one.name if isinstance(one, (Made, Name)) else ""
        if isinstance(text, str) and _RANKS.search(text):
            return True
        if not isinstance(one, Made) or one.name not in _GIVEN:
            waiting += made_of(one)
    return False
