import torch
import torch.distributed as dist


class Gatherer:
    def collect(self, x):
        out = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(out, x)
        return torch.cat(out)
