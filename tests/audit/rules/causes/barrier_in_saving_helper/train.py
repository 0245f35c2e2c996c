"""The helper that saves ends in a barrier, and the caller calls it on rank 0 only."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from checkpoints import Saver


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 4))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    saver = Saver("out", keep=2)
    for step in range(100):
        opt.zero_grad()
        model(torch.randn(2, 4)).sum().backward()
        opt.step()
        if step % 20 == 0 and is_main():  # cause
            saver(model, step)  # cause
    dist.destroy_process_group()


main()
