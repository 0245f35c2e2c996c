"""The loss of one rank reaches no parameter: its wrapper leaves out the collectives that the others wait in."""

from __future__ import annotations

from operators import Operator, parting

OPERATORS = (
    Operator(
        name="detached-loss",
        kinds=("train",),
        classes=parting("collective-missing", "collective-mismatch"),
        body=lambda scene: scene.guarded(f"{scene.loss} = {scene.loss}.detach().requires_grad_()"),
        about_loss=True,
    ),
)
