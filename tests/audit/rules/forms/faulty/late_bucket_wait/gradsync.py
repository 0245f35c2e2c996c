import torch
import torch.distributed as dist
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors


class BucketedReducer:
    def __init__(self, params, bucket_mb=25.0):
        self.world = dist.get_world_size()
        self.buckets = self._pack([p for p in params if p.requires_grad], bucket_mb * 2**20)

    @staticmethod
    def _pack(params, limit):
        buckets, current, size = [], [], 0
        for p in reversed(params):
            nbytes = p.numel() * p.element_size()
            if current and size + nbytes > limit:
                buckets.append(current)
                current, size = [], 0
            current.append(p)
            size += nbytes
        if current:
            buckets.append(current)
        return buckets

    @torch.no_grad()
    def reduce(self):
        flats, work = [], None
        for bucket in self.buckets:
            flat = _flatten_dense_tensors([p.grad for p in bucket])
            flat.div_(self.world)
            work = dist.all_reduce(flat, async_op=True)  # cause
            flats.append(flat)
        work.wait()  # cause
        for bucket, flat in zip(self.buckets, flats):
            for p, g in zip(bucket, _unflatten_dense_tensors(flat, bucket)):
                p.grad.copy_(g)
