import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from control import Control


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    control = Control("out")
    for step in range(100000):
        told = torch.tensor(float(control.stop))
        dist.all_reduce(told, op=dist.ReduceOp.MAX)
        if told:
            break
        optimizer.zero_grad()
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
    dist.destroy_process_group()


main()
