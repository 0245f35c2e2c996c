"""What a script is to run, and how much of a training step that takes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diagnostics.bisection.case import RunSettings
from diagnostics.bisection.trial import Failure, FailureKind

BEFORE_BACKWARD = ("import", "construct", "batch", "edit", "group", "move", "wrap", "forward")
BEFORE_FORWARD = BEFORE_BACKWARD[:-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptPlan:
    """What is to be run: statements that bind `model`, and what stands between the brackets of its calls."""

    settings: RunSettings
    failure: Failure
    build: tuple[str, ...]
    inputs: tuple[str, ...]  # one for each call
    output: Mapping[str, Any] | None = None  # what the model gives, as recorded
    units: tuple[str, ...] = ()  # paths that a sharding wrapper takes one by one
    group: bool = False  # the model asks for the process group
    environ: bool = False  # the model asks for RANK and the like
    seed: int = 0
    limit_s: int = 60

    @property
    def steps(self) -> int:
        """How many steps it takes."""
        return self.settings.steps

    @property
    def backward(self) -> bool:
        """Whether the failure needs a backward pass."""
        several = self.settings.steps * self.settings.accumulate > 1
        return (
            several
            or self.failure.phase not in BEFORE_BACKWARD
            or self.failure.kind in (FailureKind.DISAGREE, FailureKind.NONFINITE)
        )

    @property
    def forward(self) -> bool:
        """Whether the failure needs a forward."""
        return self.failure.phase not in BEFORE_FORWARD or self.failure.kind in (
            FailureKind.DISAGREE,
            FailureKind.NONFINITE,
        )

    @property
    def optimizer(self) -> bool:
        """Whether the failure needs the optimizer."""
        late = self.failure.phase in ("optimizer", "end") or self.failure.detail == "parameter"
        return self.backward and (self.settings.steps > 1 or late)

    @property
    def in_group(self) -> bool:
        """Whether there is a process group."""
        return self.settings.world > 1 or self.settings.wrapper != "none" or self.group

    @property
    def plain_loss(self) -> str:
        """The loss of an output of known kind, "" where it must be looked for."""
        told = self.output or {}
        if len(self.inputs) > 1 or "model = Held(model)" in self.build:
            return ""
        if told.get("kind") == "tensor" and told["dtype"].startswith(("float", "bfloat")):
            return "output.float().mean()"
        names = dict(zip(told.get("names", ()), told.get("items", ()), strict=False))
        own = names.get("loss", {})
        if own.get("kind") == "tensor" and own.get("grad"):
            return "output['loss'].float().mean()" if told["kind"] == "dict" else "output.loss.float().mean()"
        if told.get("kind") == "object":
            return "loss_of(vars(output))"
        return ""
