import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

from mesh import Mesh


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class SplitMLP(nn.Module):
    def __init__(self, dim, hidden, group):
        super().__init__()
        self.group = group
        part = hidden // dist.get_world_size(group)
        self.up, self.down = nn.Linear(dim, part), nn.Linear(part, dim, bias=False)

    def forward(self, x):
        x = Copy.apply(x, self.group)
        return Sum.apply(self.down(F.gelu(self.up(x))), self.group)


def main(tensor=2, steps=1000):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    mesh = Mesh(tensor)
    torch.manual_seed(50 + rank)
    model = nn.Sequential(SplitMLP(256, 2048, mesh.tensor), SplitMLP(256, 2048, mesh.tensor)).cuda()
    mesh.align_replicas(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    data = torch.Generator(device="cuda").manual_seed(900 + rank // tensor)
    for step in range(steps):
        x = torch.randn(512, 256, device="cuda", generator=data)
        loss = F.mse_loss(model(x), torch.cos(2 * x))
        optimizer.zero_grad()
        loss.backward()
        mesh.average(model)
        optimizer.step()
        if rank == 0 and step % 100 == 0:
            print(step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
