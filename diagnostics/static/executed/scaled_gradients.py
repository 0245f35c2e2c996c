"""Gradients that are clipped while a scaler's factor is still in them. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made

_CLIPS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", ".clip_grad_norm_")
_SCALER = "GradScaler"


def clipped_while_scaled(execution: Execution) -> Iterator[tuple[Event, Made, Event]]:
    """Yields (clipping, scaler, backward pass) where the scaler is never asked to take its factor out."""
    scaled: list[tuple[Made, Event]] = []
    for one in execution.events:
        if one.name == ".backward" and isinstance(one.owner, Made) and one.owner.name == ".scale":
            scaler = one.owner.owner
            if isinstance(scaler, Made) and scaler.name.endswith(_SCALER) and not _is_off(scaler):
                scaled.append((scaler, one))
    for clip in execution.named(*_CLIPS) if scaled else ():
        for scaler, backward in scaled:
            unscaled = any(
                one.owner is scaler or not isinstance(one.owner, Made) for one in execution.named(".unscale_")
            )
            steps = any(one.owner is scaler for one in execution.named(".step"))
            if (
                not unscaled
                and steps
                and {loop.node for loop in clip.loops} >= {loop.node for loop in backward.loops[:1]}
            ):
                yield clip, scaler, backward
                break


def _is_off(scaler: Made) -> bool:
    given = scaler.keywords.get("enabled")
    return isinstance(given, Const) and not given.value
