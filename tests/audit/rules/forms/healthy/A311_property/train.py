import contextlib
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from state import Accumulation


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state = Accumulation(4)
    for step in range(100):
        state.step = step
        context = contextlib.nullcontext() if state.syncs else model.no_sync()
        with context:
            model(torch.randn(2, 2)).sum().backward()
        if state.updates:
            optimizer.step()
            optimizer.zero_grad()
    dist.destroy_process_group()


main()
