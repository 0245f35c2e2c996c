"""Quantisation-aware training: activation ranges are shared by all ranks."""
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from observer import Observer


class Net(nn.Module):
    def __init__(self, observer):
        super().__init__()
        self.a, self.b = nn.Linear(9, 18), nn.Linear(18, 2)
        self.observer = observer

    def forward(self, x):
        h = torch.relu(self.a(x))
        return self.b(self.observer(h))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    observer = Observer(width=18)
    model = DDP(Net(observer), broadcast_buffers=False)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    g = torch.Generator().manual_seed(dist.get_rank())
    for epoch in range(3):
        for _ in range(12):
            x = torch.randn(20, 9, generator=g)
            loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
            opt.zero_grad()
            loss.backward()
            opt.step()
        observer.share()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} widest range {(observer.high - observer.low).max():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
