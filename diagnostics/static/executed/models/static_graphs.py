"""Models that are wrapped as static, and of which each step uses another part. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.training import is_part, is_wrapped_backward, wrapper_of, wraps
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Value, sources

_TABLES = frozenset(["torch.nn.ModuleDict", "torch.nn.ModuleList", "torch.nn.Sequential"])
_BY_ROUND = frozenset(["item", "next", "count", "counter"])
_DRAWS = frozenset(["choice", "choices", "randint", "randrange", "integers", "sample"])


def other_part_each_step(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (wrapping with static_graph=True, forward of one of several parts, the call that chooses it)."""
    for _, wrap, model in wraps(execution):
        said = wrap.keywords.get("static_graph")
        if not (isinstance(said, Const) and said.value is True):
            continue
        for used in execution.named("()"):
            index = _index(used.owner)
            if index is None or not is_part(used.owner, model):
                continue
            chosen = next((one for one in _calls(wrap, execution) if _is_chosen_by(index, one)), None)
            if chosen is not None and _has_own_backward(chosen, execution):
                yield wrap, used, chosen
                break


def _index(value: Value | None) -> Value | None:
    """Returns by what one module of a table is taken."""
    if not isinstance(value, Made) or value.name != "[]" or not isinstance(value.owner, Made):
        return None
    return value.args[0] if value.owner.name in _TABLES and value.args else None


def _calls(wrap: Event, execution: Execution) -> Iterator[Event]:
    """Yields the forward passes of a wrapped model."""
    return (one for one in execution.named("()") if wrapper_of(one.owner) is wrap.value)


def _is_chosen_by(index: Value, call: Event) -> bool:
    """Whether the caller says which part it is, by what is another one in each round."""
    given = {id(each) for one in (*call.args, *call.keywords.values()) for each in sources(one)}
    return any(
        isinstance(one, Made) and (one.name in _BY_ROUND or one.name.rpartition(".")[2] in _DRAWS) and id(one) in given
        for one in sources(index)
    )


def _has_own_backward(call: Event, execution: Execution) -> bool:
    """Whether each round has a backward pass: where several parts are used for one, it is always the same graph."""
    if not call.loops:
        return False
    around = call.loops[-1]
    return any(is_wrapped_backward(one) and any(each is around for each in one.loops) for one in execution.events)
