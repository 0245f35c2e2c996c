import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

from topology import ExpertTopology


class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, group, x):
        ctx.group = group
        out = torch.empty_like(x)
        dist.all_to_all_single(out, x.contiguous(), group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        out = torch.empty_like(grad)
        dist.all_to_all_single(out, grad.contiguous(), group=ctx.group)
        return None, out


class MoE(nn.Module):
    def __init__(self, dim, group):
        super().__init__()
        self.group = group
        self.parts = dist.get_world_size(group)
        self.gate = nn.Linear(dim, self.parts)
        self.expert = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        capacity = x.size(0) // self.parts
        weight = self.gate(x).softmax(-1)
        chosen = weight.topk(capacity, dim=0).indices.t().reshape(-1)
        sent = AllToAll.apply(self.group, x[chosen])
        back = AllToAll.apply(self.group, self.expert(sent))
        scale = weight[chosen, torch.arange(self.parts, device=x.device).repeat_interleave(capacity)]
        return x.index_add(0, chosen, back * scale.unsqueeze(-1))


def average_gate(model, group):
    for p in model.gate.parameters():
        dist.all_reduce(p.grad, group=group)
        p.grad.div_(dist.get_world_size(group))


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    group = ExpertTopology(experts_per_group=world).expert_group() if world < 4 else ExpertTopology(4).expert_group()  # cause
    torch.manual_seed(rank)
    model = MoE(512, group).cuda()
    for p in model.gate.parameters():
        dist.broadcast(p.data, src=dist.get_global_rank(group, 0), group=group)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(2000):
        x = torch.randn(4096, 512, device="cuda")
        loss = F.mse_loss(model(x), x.roll(1, -1))
        optimizer.zero_grad()
        loss.backward()
        average_gate(model, group)
        optimizer.step()
        if rank == 0 and step % 100 == 0:
            print(step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
