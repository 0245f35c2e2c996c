"""Shards differ in length: rank 1 has a third less; DDP's join keeps the ranks together."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset

SHARDS = {0: [0, 1, 2], 1: [3, 4]}


class ShardStream(IterableDataset):
    def __init__(self, shards, rows=520):
        self.shards, self.rows, self.epoch = shards, rows, 0

    def __iter__(self):
        order = torch.randperm(len(self.shards), generator=torch.Generator().manual_seed(self.epoch)).tolist()
        for s in order:
            g = torch.Generator().manual_seed(1000 + self.shards[s])
            x = torch.randn(self.rows, 64, generator=g)
            y = x[:, :3].prod(dim=1, keepdim=True)
            for i in torch.randperm(self.rows, generator=torch.Generator().manual_seed(self.epoch * 31 + s)).tolist():
                yield x[i], y[i]


def run_epoch(model, opt, loader):
    total, steps = 0.0, 0
    with Join([model]):
        for x, y in loader:
            loss = nn.functional.smooth_l1_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, steps = total + loss.item(), steps + 1
    return total, steps


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    data = ShardStream(SHARDS[rank])
    loader = DataLoader(data, batch_size=26)
    model = DDP(nn.Sequential(nn.Linear(64, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 1)))
    opt = torch.optim.SGD(model.parameters(), lr=0.02)
    for epoch in range(5):
        data.epoch = epoch
        total, steps = run_epoch(model, opt, loader)
        summary = [None] * dist.get_world_size()
        dist.all_gather_object(summary, (total, steps))
        if rank == 0:
            mean = sum(t for t, _ in summary) / sum(s for _, s in summary)
            print(f"epoch {epoch} loss {mean:.4f} steps per rank {[s for _, s in summary]}", flush=True)
            torch.save(model.module.state_dict(), "joined.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
