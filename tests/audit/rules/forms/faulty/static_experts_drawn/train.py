import os
import random
from dataclasses import asdict, dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass(frozen=True)
class Wrapping:
    static_graph: bool = True  # cause
    bucket_cap_mb: int = 25


class Experts(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(64, 64) for _ in range(count))
        self.out = nn.Linear(64, 8)

    def forward(self, x, which):
        return self.out(torch.relu(self.experts[which](x)))


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(dist.get_rank())
    rng = random.Random(11)
    model = DDP(Experts(4).to(device), device_ids=[device.index], **asdict(Wrapping()))  # cause
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(1000):
        which = rng.randrange(4)
        opt.zero_grad(set_to_none=True)
        model(torch.randn(32, 64, device=device), which).square().mean().backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
