import contextlib
import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Adapted(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        for parameter in base.parameters():
            parameter.requires_grad = False
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(4)
    net = nn.Sequential(Adapted(nn.Linear(8, 16)), nn.BatchNorm1d(16), nn.ReLU(), Adapted(nn.Linear(16, 4)))
    model = DistributedDataParallel(net, broadcast_buffers=False)
    average = copy.deepcopy(net)
    optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad], lr=1e-2)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 5))
    data = torch.Generator().manual_seed(rank)
    for step in range(40):
        optimizer.zero_grad()
        for micro in range(2):
            x = torch.randn(16, 8, generator=data)
            with model.no_sync() if micro == 0 else contextlib.nullcontext():
                nn.functional.cross_entropy(model(x), x[:, :4].argmax(1)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        with torch.no_grad():
            for kept, now in zip(average.parameters(), net.parameters()):
                kept.lerp_(now, 0.1)
    if rank == 0:
        average(torch.randn(4, 8))
        print("adapted")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
