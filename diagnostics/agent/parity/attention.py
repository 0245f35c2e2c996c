"""Attention whose dropout mask can be kept: torch's own draws it inside, where nobody sees it."""

from __future__ import annotations

import functools


def replayable(original, draws):
    """Returns torch's scaled_dot_product_attention, which with dropout computes the same in steps that can be seen."""

    @functools.wraps(original)
    def call(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if not dropout_p or not draws.wanted():
            return original(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        import torch

        if enable_gqa:
            key, value = (one.repeat_interleave(query.size(-3) // one.size(-3), -3) for one in (key, value))
        scale = query.size(-1) ** -0.5 if scale is None else scale
        scores = query @ key.transpose(-2, -1) * scale
        if is_causal:
            attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril()
        if attn_mask is not None:
            kept = attn_mask.dtype == torch.bool
            scores = scores.masked_fill(~attn_mask, float("-inf")) if kept else scores + attn_mask
        return torch.nn.functional.dropout(scores.softmax(-1), dropout_p, True) @ value

    return call
