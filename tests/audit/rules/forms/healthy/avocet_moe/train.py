import os

import torch
import torch.distributed as dist
from torch import nn

from groups import Layout, expert_group, replica_group
from moe import Experts


def average(params, world, group=None):
    for p in params:
        dist.all_reduce(p.grad, group=group)
        p.grad.div_(world)


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    layout = Layout(dist.get_world_size(), int(os.environ.get("EXPERT_PARALLEL", "4")))
    group = expert_group(layout)
    replicas = replica_group(layout)
    torch.manual_seed(12)
    stem, head = nn.Linear(64, 256).cuda(), nn.Linear(256, 10).cuda()
    moe = Experts(256, group).cuda()
    dense = [*stem.parameters(), *head.parameters(), *moe.gate.parameters()]
    opt = torch.optim.AdamW([*dense, *moe.ffn.parameters()], 1e-3)
    gen = torch.Generator(device="cuda").manual_seed(50 + dist.get_rank())
    for step in range(2000):
        x = torch.randn(1024, 64, device="cuda", generator=gen)
        y = x[:, :10].argmax(1)
        loss = nn.functional.cross_entropy(head(moe(stem(x))), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        average(dense, layout.world)
        average(moe.ffn.parameters(), layout.world, replicas)
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
