import torch
import torch.distributed as dist


class HaloExchange(torch.autograd.Function):
    """Swaps border columns with the neighbours; end ranks have one neighbour only."""

    @staticmethod
    def swap(left_out, right_out):
        r, w = dist.get_rank(), dist.get_world_size()
        left_in, right_in = torch.zeros_like(left_out), torch.zeros_like(right_out)
        ops = []
        if r > 0:
            ops += [dist.isend(left_out, r - 1), dist.irecv(left_in, r - 1)]
        if r < w - 1:
            ops += [dist.isend(right_out, r + 1), dist.irecv(right_in, r + 1)]
        for o in ops:
            o.wait()
        return left_in, right_in

    @staticmethod
    def forward(ctx, x):
        l, r = HaloExchange.swap(x[..., :1].contiguous(), x[..., -1:].contiguous())
        return torch.cat([l, x, r], -1)

    @staticmethod
    def backward(ctx, g):
        l, r = HaloExchange.swap(g[..., :1].contiguous(), g[..., -1:].contiguous())
        out = g[..., 1:-1].clone()
        out[..., :1] += l
        out[..., -1:] += r
        return out


def halo(x):
    return HaloExchange.apply(x)
