import copy

import torch
import torch.distributed as dist


class Ema:
    def __init__(self, model, decay=0.999):
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for own, new in zip(self.model.parameters(), model.parameters()):
            own.lerp_(new, 1 - self.decay)


@torch.no_grad()
def sample(net, n, steps, device):
    x = torch.randn(n, 2, device=device)
    for i in reversed(range(steps)):
        t = torch.full((n, 1), (i + 1) / steps, device=device)
        x = x - net(torch.cat([x, t], 1)) / steps
    return x


def spread_reached(ema, limit, device):
    verdict = [False]
    if dist.get_rank() == 0:
        points = sample(ema.model, 4096, 100, device)
        deviation = (points.norm(dim=1) - 2.0).abs().mean().item()
        print(f"mean distance to the ring {deviation:.4f}", flush=True)
        verdict[0] = deviation < limit
    dist.broadcast_object_list(verdict, src=0)
    return verdict[0]
