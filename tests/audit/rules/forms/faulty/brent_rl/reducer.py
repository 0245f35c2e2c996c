import torch
import torch.distributed as dist


class Reducer:
    """Averages gradients in flat buckets of about `cap` elements."""

    def __init__(self, params, cap=2_000_000):
        self.world = dist.get_world_size()
        self.buckets, size = [[]], 0
        for p in params:
            if size and size + p.numel() > cap:
                self.buckets.append([])
                size = 0
            self.buckets[-1].append(p)
            size += p.numel()
        self.flat = []

    def start(self):
        self.flat = []
        for bucket in self.buckets:
            buf = torch.cat([p.grad.reshape(-1) for p in bucket])
            dist.all_reduce(buf, async_op=True)  # cause
            self.flat.append(buf)  # cause

    def finish(self):
        for bucket, buf in zip(self.buckets, self.flat):
            buf.div_(self.world)  # cause
            at = 0
            for p in bucket:
                p.grad.copy_(buf[at : at + p.numel()].view_as(p))
                at += p.numel()
        self.flat = []
