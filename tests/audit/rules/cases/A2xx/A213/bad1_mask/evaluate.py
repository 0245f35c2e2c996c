import torch
import torch.distributed as dist



def collect(scores):
    found = scores[scores > 0.5]
    everyone = [torch.empty_like(found) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, found)
    return torch.cat(everyone)


def places(flags):
    at = flags.nonzero()
    buffers = [torch.zeros(at.shape) for _ in range(dist.get_world_size())]
    dist.all_gather(buffers, at)
    return buffers


def both(x, keep):
    mask = (x > 0) & keep
    kept = x[mask].float()
    out = [torch.empty_like(kept)] * dist.get_world_size()
    dist.all_gather(out, kept)
