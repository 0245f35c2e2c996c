"""How far a prediction is from what its equation says, without the truth: by which the best of several is chosen.

Shapes: B batch, T frames, X grid axes, C channels.
"""

from __future__ import annotations

from torch import Tensor

from ups.data.field_spec import FieldSpec
from ups.data.pde.equations import equation
from ups.errors import ConfigError
from ups.models.darcy_residual import relative_residual


def physics_score(spec: FieldSpec, given_BXC: Tensor, predicted: Tensor) -> Tensor:
    """Returns the score of each prediction, (B,); 0 is perfect, less is better.

    Steady problems: the residual of the equation over its forcing; `predicted` is u, (B, X, C). Conservation laws on a
    periodic domain: the root mean square over time of the drift of the field's mean, over the RMS of the first frame;
    `predicted` are the frames after it, (B, T, X, C). Raises ConfigError for an equation with neither.
    """
    if spec.kind == "steady":
        return relative_residual(given_BXC[..., 0], predicted[..., 0], spec.parameter)
    if not equation(spec.task).CONSERVES:
        raise ConfigError(
            f"there is no physics score for {spec.task}: nothing in it is conserved", hint="leave out --best-of"
        )
    drift_BTC = predicted.flatten(2, -2).mean(2) - given_BXC.flatten(1, -2).mean(1).unsqueeze(1)
    size = given_BXC.flatten(1).square().mean(1).sqrt().clamp_min(1e-12)
    score: Tensor = drift_BTC.square().mean((1, 2)).sqrt() / size
    return score
