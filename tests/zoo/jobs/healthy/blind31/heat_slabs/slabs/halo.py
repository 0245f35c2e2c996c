import torch
import torch.distributed as dist


class HaloExchange(torch.autograd.Function):
    """Appends one column of each neighbour to a slab of a periodic domain; the backward sends gradients home."""

    @staticmethod
    def forward(ctx, x):
        edges = torch.stack([x[..., 0], x[..., -1]])
        everyone = [torch.empty_like(edges) for _ in range(dist.get_world_size())]
        dist.all_gather(everyone, edges.contiguous())
        r, w = dist.get_rank(), dist.get_world_size()
        left, right = everyone[(r - 1) % w][1], everyone[(r + 1) % w][0]
        return torch.cat([left.unsqueeze(-1), x, right.unsqueeze(-1)], -1)

    @staticmethod
    def backward(ctx, grad):
        mine = torch.stack([grad[..., 0], grad[..., -1]]).contiguous()
        everyone = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
        dist.all_gather(everyone, mine)
        r, w = dist.get_rank(), dist.get_world_size()
        out = grad[..., 1:-1].clone()
        out[..., 0] += everyone[(r - 1) % w][1]
        out[..., -1] += everyone[(r + 1) % w][0]
        return out


def own_slab(x):
    w = dist.get_world_size()
    return x.chunk(w, dim=-1)[dist.get_rank()].contiguous()


def sum_gradients(module):
    for p in module.parameters():
        dist.all_reduce(p.grad)
