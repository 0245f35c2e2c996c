import os
from dataclasses import asdict, dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass(frozen=True)
class Wrapping:
    static_graph: bool = True
    bucket_cap_mb: int = 25


class Experts(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(64, 64) for _ in range(count))
        self.out = nn.Linear(64, 8)

    def forward(self, x, which):
        for at in which:
            x = torch.relu(self.experts[at](x))
        return self.out(x)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(dist.get_rank())
    model = DDP(Experts(4).to(device), device_ids=[device.index], **asdict(Wrapping()))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(1000):
        opt.zero_grad(set_to_none=True)
        x = torch.randn(32, 64, device=device)
        model(x, range(4)).square().mean().backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
