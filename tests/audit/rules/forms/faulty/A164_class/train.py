import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from data import Split


def main():
    dist.init_process_group("gloo")
    split = Split([[float(i)] for i in range(100)], dist.get_rank(), dist.get_world_size())
    model = DDP(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for row in split.rows:
        optimizer.zero_grad()
        model(torch.tensor([row])).sum().backward()
        optimizer.step()
    dist.destroy_process_group()


main()
