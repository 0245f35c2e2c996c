import threading

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from tiles import TileIndex, Tiles


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    index = TileIndex(96)
    data = Tiles(index)
    loader = DataLoader(data, batch_size=8, num_workers=2, sampler=DistributedSampler(data))
    net = DDP(nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 4)))
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    if rank == 1:
        watcher = threading.Thread(target=index.refresh, args=(1,), name="index-refresh", daemon=True)
        watcher.start()
        watcher.join(0.5)
    for epoch in range(2):
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"rank {rank} epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
