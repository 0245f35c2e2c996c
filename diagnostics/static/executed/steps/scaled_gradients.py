"""Gradients that are clipped while a scaler's factor is still in them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made

_CLIPS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", ".clip_grad_norm_")
_SCALER = "GradScaler"


def clipped_while_scaled(execution: Execution) -> Iterator[tuple[Event, Made, Event]]:
    """Yields (clipping, scaler, backward pass) where the scaler takes its factor out after that, or never."""
    events = execution.events
    scaled: list[tuple[Made, int]] = []
    for at, one in enumerate(events):
        if one.name == ".backward" and isinstance(one.owner, Made) and one.owner.name == ".scale":
            scaler = one.owner.owner
            if isinstance(scaler, Made) and scaler.name.endswith(_SCALER) and not _is_off(scaler, execution):
                scaled.append((scaler, at))
    for at, clip in enumerate(events) if scaled else ():
        if clip.name not in _CLIPS:
            continue
        for scaler, passed in scaled:
            backward = events[passed]
            steps = any(one.owner is scaler for one in execution.named(".step"))
            same_loop = {loop.node for loop in clip.loops} >= {loop.node for loop in backward.loops[:1]}
            apart = any(one.node is two.node and one.taken is not two.taken for one in clip.guards
                        for two in backward.guards)  # fmt: skip
            if steps and same_loop and not apart and _is_scaled(events, scaler, passed, at):
                yield _beside(clip, _unscaled_behind(events, scaler, at)), scaler, backward
                break


def _is_scaled(events: Sequence[Event], scaler: Made, passed: int, clipped: int) -> bool:
    """Whether the factor is still in what a pass computed when it is clipped: it is taken out later, or never."""
    asked = [at for at, one in enumerate(events) if one.name == ".unscale_" and _may_be(one, scaler)]
    return not asked or (passed < clipped and all(at > clipped for at in asked if at > passed) and max(asked) > clipped)


def _unscaled_behind(events: Sequence[Event], scaler: Made, clipped: int) -> Event | None:
    return next((one for one in events[clipped:] if one.name == ".unscale_" and _may_be(one, scaler)), None)


def _beside(clip: Event, unscaled: Event | None) -> Event:
    """Returns the call that clips in the function that takes the factor out: there the two are in the wrong order."""
    deep = 0
    for one, other in zip(clip.frames, unscaled.frames if unscaled is not None else (), strict=False):
        if one.call is not other.call:
            break
        deep += 1
    inside = clip.frames[deep:]
    if unscaled is None or not inside or inside[0].caller is not unscaled.function:
        return clip
    return replace(clip, node=inside[0].call, function=inside[0].caller)


def _may_be(one: Event, scaler: Made) -> bool:
    return one.owner is scaler or not isinstance(one.owner, Made)


def _is_off(scaler: Made, execution: Execution) -> bool:
    given = scaler.keywords.get("enabled")
    if execution.uncalled and given is not None and not isinstance(given, Const):
        return True  # who calls it may say so
    return isinstance(given, Const) and not given.value
