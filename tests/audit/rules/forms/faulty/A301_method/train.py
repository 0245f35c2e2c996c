import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Ema:
    def __init__(self, model):
        self.model = model

    def clip(self):
        for p in self.model.parameters():
            p.clamp_(-1, 1)  # cause


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ema = Ema(model)
    for _ in range(10):
        optimizer.zero_grad()
        model(torch.randn(2, 2)).sum().backward()
        optimizer.step()
        ema.clip()
    dist.destroy_process_group()


main()
