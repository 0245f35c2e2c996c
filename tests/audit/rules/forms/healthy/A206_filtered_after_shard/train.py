import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from data import shard


def main():
    dist.init_process_group("gloo")
    rows = [[float(i % 7 - 1), 1.0] for i in range(100)]
    loader = DataLoader(shard(rows, dist.get_rank(), dist.get_world_size()), batch_size=4)
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    dist.destroy_process_group()


main()
