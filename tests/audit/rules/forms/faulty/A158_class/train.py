import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from stream import Lines


def build(path):
    return DataLoader(Lines(path), batch_size=4)  # cause


def main():
    dist.init_process_group("gloo")
    loader = build("corpus.txt")
    model = DDP(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    dist.destroy_process_group()


main()
