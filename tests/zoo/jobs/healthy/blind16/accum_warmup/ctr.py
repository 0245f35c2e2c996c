from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

ACCUM = 4


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))
    net[0].requires_grad_(False)
    net = DDP(net)
    opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.05)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 10))
    g = torch.Generator().manual_seed(rank)
    for micro in range(1, 321):
        last = micro % ACCUM == 0
        with nullcontext() if last else net.no_sync():
            x = torch.randn(16, 12, generator=g)
            y = (x[:, :1] > 0).float()
            loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
            (loss / ACCUM).backward()
        if last:
            opt.step()
            sched.step()
            opt.zero_grad()
    print("rank", rank, "loss", round(loss.item(), 3), "w", sum(p.sum().item() for p in net.parameters()), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
