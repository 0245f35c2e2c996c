import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from batching import TokenBatches


def main():
    dist.init_process_group("gloo")
    rows = torch.load("rows.pt", weights_only=True)
    sampler = TokenBatches([len(row) for row in rows], 4096, dist.get_rank(), dist.get_world_size())
    loader = DataLoader(rows, 8, sampler=torch.utils.data.DistributedSampler(rows))
    model = DDP(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
