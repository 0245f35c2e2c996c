"""Two GPUs take as long as one and learn no more: both read all of the data."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from data import TextShards


def main():
    dist.init_process_group("gloo")
    loader = DataLoader(TextShards("corpus"), batch_size=16, num_workers=4)  # cause
    model = DDP(torch.nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        (model(batch) - batch).square().mean().backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
