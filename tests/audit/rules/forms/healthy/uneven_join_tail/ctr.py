import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from shards import ClickShards


class DLRM(nn.Module):
    def __init__(self, fields=26, buckets=100_000, dim=16, dense=13):
        super().__init__()
        self.emb = nn.ModuleList(nn.Embedding(buckets, dim) for _ in range(fields))
        self.bottom = nn.Sequential(nn.Linear(dense, 64), nn.ReLU(), nn.Linear(64, dim))
        self.top = nn.Sequential(nn.Linear((fields + 1) * dim, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, dense, cat):
        parts = [self.bottom(dense)] + [e(cat[:, i]) for i, e in enumerate(self.emb)]
        return self.top(torch.cat(parts, 1)).squeeze(1)


def main(root, epochs=2):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DistributedDataParallel(DLRM().cuda(), device_ids=[local])
    opt = torch.optim.Adagrad(model.parameters(), lr=0.01)
    data = ClickShards(root, rank, world)
    loader = DataLoader(data, batch_size=2048, num_workers=4, pin_memory=True)
    seen = torch.zeros(1, dtype=torch.float64, device="cuda")
    for epoch in range(epochs):
        data.set_epoch(epoch)
        with Join([model]):
            for dense, cat, label in loader:
                logit = model(dense.cuda(non_blocking=True), cat.cuda(non_blocking=True))
                loss = nn.functional.binary_cross_entropy_with_logits(logit, label.float().cuda())
                opt.zero_grad()
                loss.backward()
                opt.step()
                seen += len(label)
    dist.all_reduce(seen)
    if rank == 0:
        print(f"{int(seen.item())} rows")
        torch.save(model.module.state_dict(), "ctr.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
