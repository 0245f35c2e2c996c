import torch
import torch.distributed as dist

from potential.model import PER_GRAPH


def consolidate(outputs):
    """Per-graph values are summed over the domains, per-atom values are put side by side."""
    whole = {}
    for name, value in outputs.items():
        if name in PER_GRAPH:
            whole[name] = value.clone()
            dist.all_reduce(whole[name])
        else:
            parts = [torch.empty_like(value) for _ in range(dist.get_world_size())]
            dist.all_gather(parts, value.contiguous())
            whole[name] = torch.cat(parts)
    return whole
