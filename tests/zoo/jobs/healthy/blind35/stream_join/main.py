import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from stream import EventStream


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--events", type=int, default=2577)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--epochs", type=int, default=4)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    data = EventStream(args.events, rank, world)
    loader = DataLoader(data, args.batch_size, num_workers=1)
    model = DDP(nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(args.epochs):
        data.set_epoch(epoch)
        totals = torch.zeros(2)
        with Join([model]):
            for x, y in loader:
                loss = F.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                totals += torch.tensor([loss.item() * len(x), len(x)])
        dist.all_reduce(totals)
        if rank == 0:
            print(f"epoch {epoch} events {int(totals[1])} loss {totals[0] / totals[1]:.4f}", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), "events.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
