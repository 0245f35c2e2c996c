import torch
import torch.distributed as dist


def decode(heat):
    b, j, h, w = heat.shape
    idx = heat.flatten(2).argmax(-1)
    return torch.stack([idx % w, idx // w], -1).float()


class PCK:
    def __init__(self, alpha, device):
        self.alpha, self.device = alpha, device
        self.reset()

    def reset(self):
        self.right = torch.zeros((), device=self.device)
        self.seen = torch.zeros((), device=self.device)

    def update(self, heat, target, size):
        err = (decode(heat) - decode(target)).norm(dim=-1)
        self.right += (err <= self.alpha * size[:, None]).sum()
        self.seen += err.numel()

    def compute(self):
        value = self.right / self.seen.clamp(min=1)  # cause
        dist.all_reduce(value, op=dist.ReduceOp.SUM)  # cause
        return value.item()
