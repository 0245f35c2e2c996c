import torch
import torch.distributed as dist


class BucketReducer:
    """Averages gradients in flat buckets while the backward still runs."""

    def __init__(self, params, cap_mb=8):
        self.world = dist.get_world_size()
        self.buckets = self._pack([p for p in params if p.requires_grad], cap_mb * 2**20)
        self.left = [len(b) for b in self.buckets]
        self.flight = []
        for b, bucket in enumerate(self.buckets):
            for p in bucket:
                p.register_post_accumulate_grad_hook(self._hook(b))

    @staticmethod
    def _pack(params, cap):
        buckets, size = [[]], 0
        for p in reversed(params):
            if size > cap:
                buckets.append([])
                size = 0
            buckets[-1].append(p)
            size += p.numel() * p.element_size()
        return buckets

    def _hook(self, b):
        def ready(_):
            self.left[b] -= 1
            if self.left[b] == 0:
                flat = torch.cat([p.grad.flatten() for p in self.buckets[b]])
                self.flight.append((b, flat, dist.all_reduce(flat, async_op=True)))
        return ready

    def finish(self):
        for b, flat, work in self.flight:
            work.wait()
            flat /= self.world
            at = 0
            for p in self.buckets[b]:
                p.grad.copy_(flat[at:at + p.numel()].view_as(p))
                at += p.numel()
        self.flight.clear()
        self.left = [len(bucket) for bucket in self.buckets]
