import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from gatherer import Gather


class Contrast(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gather = Gather()

    def forward(self, a, b):
        a, b = self.gather(a), self.gather(b)
        return torch.nn.functional.cross_entropy(a @ b.T, torch.arange(len(a)))


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(8, 8))
    contrast = Contrast()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        x = torch.randn(4, 8)
        loss = contrast(model(x), model(x + 0.1))
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


main()
