import torch
import torch.distributed as dist


@torch.no_grad()
def reduce_flat(params):
    grads = [p.grad for p in params if p.grad is not None]
    flat = torch.cat([g.flatten() for g in grads])
    work = dist.all_reduce(flat, async_op=True)
    sizes = [g.numel() for g in grads]
    work.wait()
    flat /= dist.get_world_size()
    for grad, piece in zip(grads, flat.split(sizes)):
        grad.copy_(piece.view_as(grad))
