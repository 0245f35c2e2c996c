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
        both = torch.stack([self.right, self.seen])
        dist.all_reduce(both, op=dist.ReduceOp.SUM)
        return (both[0] / both[1].clamp(min=1)).item()
