"""Channel-separated attention inside windows: groups of channels attend on their own, with shared weights.

Shapes: B batch, X token axes, H channels, n windows, W tokens of one window, G groups, g channels of one
group, N heads inside one group, d channels of one head.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - the name everybody knows
from torch import Tensor, nn

from ups.models.windows import Windows


class ChannelSeparatedAttention(nn.Module):
    """Self-attention (B, X, H) -> (B, X, H) that mixes tokens of one window and channels of one group.

    Queries and keys are RMS-normalised per head; a learned bias per head depends on the relative position.
    """

    index_WW: Tensor
    blocked_nWW: Tensor | None

    def __init__(
        self,
        *,
        hidden_dim: int,
        group_size: int,
        num_heads: int,
        token_grid: Sequence[int],
        window: int,
        shifted: bool,
        periodic: bool,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.groups, self.heads = hidden_dim // group_size, num_heads
        self.windows = Windows(token_grid, window, shifted=shifted, periodic=periodic)
        self.qkv = nn.Linear(group_size, 3 * group_size)
        self.out = nn.Linear(group_size, group_size)
        head_dim = group_size // num_heads
        self.query_gain_d = nn.Parameter(torch.ones(head_dim))
        self.key_gain_d = nn.Parameter(torch.ones(head_dim))
        self.dropout = dropout
        index_WW, positions = self.windows.relative_index()
        self.bias_NR = nn.Parameter(0.02 * torch.randn(num_heads, positions))
        self.register_buffer("index_WW", index_WW, persistent=False)
        mask_nWW = self.windows.mask_nWW
        blocked = None if mask_nWW is None else torch.zeros(mask_nWW.shape).masked_fill(~mask_nWW, -torch.inf)
        self.register_buffer("blocked_nWW", blocked, persistent=False)

    def forward(self, x_BXH: Tensor) -> Tensor:
        """Returns the attended tokens, of the input's shape."""
        x_BnWH = self.windows.partition(x_BXH)
        batch, count, window, width = x_BnWH.shape
        x_BnGWg = x_BnWH.reshape(batch, count, window, self.groups, -1).transpose(2, 3)
        heads = torch.unflatten(self.qkv(x_BnGWg), -1, (3, self.heads, -1)).permute(4, 0, 1, 2, 5, 3, 6)
        query, key, value = heads.reshape(3, batch, count * self.groups * self.heads, window, -1).unbind(0)
        query = F.rms_norm(query, query.shape[-1:], self.query_gain_d.to(query.dtype))
        key = F.rms_norm(key, key.shape[-1:], self.key_gain_d.to(key.dtype))
        dropout = self.dropout if self.training else 0.0
        seen = F.scaled_dot_product_attention(query, key, value, self._bias(query.dtype), dropout)
        apart = seen.reshape(batch, count, self.groups, self.heads, window, -1).permute(0, 1, 4, 2, 3, 5)
        out_BnWGg = self.out(apart.reshape(batch, count, window, self.groups, -1))
        return self.windows.merge(out_BnWGg.reshape(batch, count, window, width))

    def _bias(self, dtype: torch.dtype) -> Tensor:
        """Returns the bias of the logits, (n * G * N, W, W): relative position, and -inf where masked."""
        bias_nGNWW = self.bias_NR[:, self.index_WW].expand(math.prod(self.windows.counts), self.groups, -1, -1, -1)
        if self.blocked_nWW is not None:
            bias_nGNWW = bias_nGNWW + self.blocked_nWW[:, None, None]
        return bias_nGNWW.flatten(0, 2).to(dtype)
