"""Steps that are given up after a scaler took its factor out, before it is told that the step is over. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.values import Made, Value, sources
from diagnostics.static.program.exit_calls import LEAVING

_SCALER = "GradScaler"
_LEAPS = frozenset(["return", "continue"])
_ENDS = frozenset(["raise", "break"])
# What a test is computed from that comes out differently in one step than in another.
_BY_STEP = frozenset(
    ["()", "item", "next", "count", "counter", "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.get_total_norm",
     ".clip_grad_norm_", ".grad"]
)  # fmt: skip


def left_without_update(execution: Execution) -> Iterator[tuple[Event, Guard, Event | None, Event]]:
    """Yields (unscale_, the test that decides, the leap out of the step, update()) where one way has no update()."""
    for one in execution.named(".unscale_"):
        if not isinstance(one.owner, Made) or not one.owner.name.endswith(_SCALER):
            continue
        if not one.loops and not execution.uncalled:
            continue
        updates = [each for each in execution.named(".update") if each.owner is one.owner and not each.is_handled]
        together = [each for each in updates if each.loops[-1:] == one.loops[-1:]]
        if not together or len(together) < len(updates):
            continue
        for guard in together[0].guards:
            if _is_around(guard, one) or guard.handler or not _differs_by_step(guard.test):
                continue
            if all(any(_is_same(guard, each) for each in update.guards) for update in together):
                leaps = _on_the_other_way(guard, execution.events)
                if not any(each.name in _ENDS or each.name in LEAVING for each in leaps):
                    out = next((each for each in leaps if each.name in _LEAPS), None)
                    yield one, guard, out, together[0]
                    break


def is_by_count(guard: Guard) -> bool:
    """Whether a test lets every k-th step through: that of accumulated gradients."""
    return any(isinstance(one, Made) and one.name == "%" for one in sources(guard.test))


def _is_around(guard: Guard, event: Event) -> bool:
    return any(each.node is guard.node for each in event.guards)


def _is_same(one: Guard, other: Guard) -> bool:
    return one.node is other.node and one.taken is other.taken


def _differs_by_step(test: Value) -> bool:
    return any(isinstance(one, Made) and one.name in _BY_STEP for one in sources(test))


def _on_the_other_way(guard: Guard, events: Sequence[Event]) -> list[Event]:
    return [one for one in events if any(each.node is guard.node and each.taken is not guard.taken
                                         for each in one.guards)]  # fmt: skip
