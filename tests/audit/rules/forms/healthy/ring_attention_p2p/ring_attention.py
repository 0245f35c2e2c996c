import math

import torch

from ring import Ring


def _merge(out, lse, new_out, new_lse):
    if out is None:
        return new_out, new_lse
    total = torch.logaddexp(lse, new_lse)
    return out * (lse - total).exp() + new_out * (new_lse - total).exp(), total


@torch.no_grad()
def ring_attention(q, k, v, ring: Ring):
    scale = 1 / math.sqrt(q.size(-1))
    out = lse = None
    for hop in range(ring.size):
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * scale
        block_lse = torch.logsumexp(scores, -1, keepdim=True)
        block = torch.einsum("bhqk,bhkd->bhqd", (scores - block_lse).exp(), v)
        out, lse = _merge(out, lse, block, block_lse)
        if hop + 1 < ring.size:
            k, v = ring.rotate(k), ring.rotate(v)
    return out
