import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from feeder import Feeder


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in Feeder([f"{i}.pt" for i in range(10)]):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    dist.destroy_process_group()


main()
