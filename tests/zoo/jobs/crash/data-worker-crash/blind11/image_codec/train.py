import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader

from images import Images


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 8), nn.Linear(8, 64)))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        for batch in DataLoader(Images(rank, world), batch_size=8, num_workers=2, drop_last=True):
            loss = nn.functional.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
