"""A linear layer with weights of its own for each field of a problem (Darcy: `a` and `u`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class FieldLinear(nn.Module):
    """Linear (..., in) -> (..., out) whose weights are chosen by field, for a batch or for each sample.

    All weights stand in one tensor, so that every rank's gradient covers every field even when its batch
    holds only some of them: DistributedDataParallel never meets an unused parameter.
    """

    def __init__(self, fields: int, in_features: int, out_features: int) -> None:
        super().__init__()
        bound = in_features**-0.5
        self.weight_FIO = nn.Parameter(torch.empty(fields, in_features, out_features).uniform_(-bound, bound))
        self.bias_FO = nn.Parameter(torch.zeros(fields, out_features))

    def forward(self, x_BSI: Tensor, field: int | Tensor) -> Tensor:
        """Returns (B, S, out); `field` is one index, or an int64 tensor (B,) with one for each sample."""
        if isinstance(field, int):
            return torch.nn.functional.linear(x_BSI, self.weight_FIO[field].T, self.bias_FO[field])
        return x_BSI @ self.weight_FIO[field] + self.bias_FO[field].unsqueeze(1)
