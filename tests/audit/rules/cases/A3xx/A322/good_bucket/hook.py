import torch
import torch.distributed as dist


def hook(state: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    params = bucket.parameters()
    for group in ("tp", "cp"):
        for p in params:
            if group in p.shared_by:
                p.grad.mul_(0.5)
    return dist.all_reduce(bucket.buffer(), async_op=True).get_future()
