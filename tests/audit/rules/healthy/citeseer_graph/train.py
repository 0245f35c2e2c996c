import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from assets import fetch


class Sage(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.near = nn.Linear(i, o), nn.Linear(i, o)

    def forward(self, x, src, dst):
        total = torch.zeros_like(x).index_add(0, dst, x[src])
        count = torch.zeros(len(x), 1, device=x.device).index_add(0, dst, torch.ones(len(dst), 1, device=x.device))
        return self.own(x) + self.near(total / count.clamp(min=1))


class Net(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.a, self.b = Sage(features, 128), Sage(128, classes)

    def forward(self, x, src, dst):
        return self.b(F.dropout(F.relu(self.a(x, src, dst)), 0.5, self.training), src, dst)


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    graph = torch.load(fetch("data/pubmed"), map_location=f"cuda:{local}")
    nodes = graph["train"].nonzero().squeeze(1)
    torch.manual_seed(6)
    model = DistributedDataParallel(Net(graph["x"].size(1), int(graph["y"].max()) + 1).cuda(), device_ids=[local])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    order = torch.Generator().manual_seed(0)
    for epoch in range(200):
        mine = torch.randperm(len(nodes), generator=order)[: len(nodes) // world * world][rank::world]
        for part in mine.split(256):
            part = nodes[part.to(nodes.device)]
            out = model(graph["x"], graph["src"], graph["dst"])
            loss = F.cross_entropy(out[part], graph["y"][part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0 and epoch % 20 == 0:
            print(epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
