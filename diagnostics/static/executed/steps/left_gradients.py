"""Gradients that another optimizer's backward pass left in a model, and that its own next step takes as well. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnostics.static.executed.training import is_part
from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.values import MOST_SEEN, Made, Value, made_of, options, sources

_OPTIMIZERS = "torch.optim."
_PARAMETERS = (".parameters", ".named_parameters")
_CUTS = frozenset([".detach", ".detach_", ".item", ".data", ".tolist", ".numpy", ".clone().detach"])
_BACKWARD, _STEP, _CLEARS = ".backward", ".step", frozenset([".zero_grad", "set grad", "torch._foreach_zero_"])
# What decides in the course of a training which parameters get gradients.
_FREEZES = frozenset([".requires_grad_", "set requires_grad"])


def left_by_others(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (clearing, backward pass of another optimizer, backward pass of the optimizer's own) in a loop.

    Nothing clears the gradients of the optimizer's model between the two passes, and the first reaches it, too.
    """
    steps = [one for one in execution.named(_STEP) if one.loops and _stepped(one) is not None]
    known = {id(made): _models(made) for one in steps if (made := _stepped(one)) is not None}
    if len(known) < 2 or any(one.name in _FREEZES and one.loops for one in execution.events):
        return
    without = {id(one.value) for one in execution.events if one.without_gradients}
    told: set[int] = set()
    for loop in _loops(steps):
        round_of = [one for one in execution.events if loop in one.loops and (one.name == _BACKWARD
                    or one.name in _CLEARS or (one.name == _STEP and _stepped(one) is not None))]  # fmt: skip
        passes = [(at, one, *_owners(at, round_of, known, without)) for at, one in enumerate(round_of)
                  if one.name == _BACKWARD and "inputs" not in one.keywords and not one.is_handled]  # fmt: skip
        for at, other, reached, taken in passes:
            for place, own, _, alone in passes:
                if len(alone) != 1 or not taken or alone & taken or not alone <= reached:
                    continue
                between = round_of[at + 1 : place] if at < place else (*round_of[at + 1 :], *round_of[:place])
                mine = next(iter(alone))
                if mine in told or any(_clears(one, known[mine], mine) for one in between):
                    continue
                cleared = next((one for one in round_of if _clears(one, known[mine], mine)), None)
                if cleared is not None:
                    told.add(mine)
                    yield cleared, other, own


def _stepped(event: Event) -> Made | None:
    """Returns the optimizer that a step is one of, also one of a GradScaler."""
    for one in (event.owner, *event.args[:1]):
        if isinstance(one, Made) and one.name.startswith(_OPTIMIZERS) and "lr_scheduler" not in one.name:
            return one
    return None


def _models(optimizer: Made) -> tuple[Value, ...]:
    """Returns the models whose parameters an optimizer was given."""
    given = optimizer.argument(0, "params")
    return tuple(
        each
        for one in sources(given)
        if isinstance(one, Made) and one.name in _PARAMETERS
        for each in options(one.owner)
    )


def _loops(steps: Sequence[Event]) -> Iterator[OpenLoop]:
    """Yields the innermost loops in which several optimizers step."""
    found: list[OpenLoop] = []
    for one in steps:
        for loop in reversed(one.loops):
            if len({id(_stepped(each)) for each in steps if loop in each.loops}) > 1:
                if loop not in found:
                    found.append(loop)
                break
    yield from found


def _owners(
    at: int, round_of: Sequence[Event], known: dict[int, tuple[Value, ...]], without: set[int]
) -> tuple[set[int], set[int]]:
    """Returns the optimizers whose models a backward pass reaches, and those of them that step before the next one."""
    event = round_of[at]
    loss = event.argument(0, "loss") if event.args else event.owner
    called = list(_called(loss, without))
    reached = {key for key, models in known.items() if any(is_part(one, each) for one in called for each in models)}
    taken: set[int] = set()
    for one in (*round_of[at + 1 :], *round_of[:at]):
        if one.name == _BACKWARD:
            break
        taken |= {id(_stepped(one))} if one.name == _STEP else set()
    return reached, taken & reached


def _called(loss: Value | None, without: set[int]) -> Iterator[Value]:
    """Yields the models that a loss was computed by, as far as gradients go back."""
    waiting, seen = [loss], set[int]()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if one is None or id(one) in seen or id(one) in without or (isinstance(one, Made) and one.name in _CUTS):
            continue
        seen.add(id(one))
        if isinstance(one, Made) and one.name == "()" and one.owner is not None:
            yield one.owner
            waiting += [*one.args, *one.keywords.values()]
        else:
            waiting += made_of(one)


def _clears(event: Event, models: Sequence[Value], optimizer: int) -> bool:
    """Whether an event may clear the gradients of an optimizer: it is its own, that of its model, or of who knows."""
    if event.name not in _CLEARS:
        return False
    known = [one for one in options(event.owner) if isinstance(one, Made) and one.name.startswith(_OPTIMIZERS)]
    if known:
        return any(id(one) == optimizer for one in known)
    owners = options(event.owner)
    return not owners or event.name != ".zero_grad" or any(_holds(one, each) for one in owners for each in models)


def _holds(owner: Value, model: Value) -> bool:
    """Whether an object is a model or has it for a part; what nothing is known of may."""
    return is_part(model, owner) or is_part(owner, model) or not _is_known(owner)


def _is_known(owner: Value) -> bool:
    return not isinstance(owner, Made) or owner.name.startswith("torch.nn.")
