import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from groups import SegmentComm


class Trunk(nn.Module):
    def __init__(self, features=24, width=96):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.layers(x)).squeeze(-1)


def shared_phase(model, table, epochs):
    ddp = DDP(model)
    optim = torch.optim.Adam(ddp.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for x, y in table.batches(128, epoch):
            loss = F.binary_cross_entropy_with_logits(ddp(x), y)
            optim.zero_grad()
            loss.backward()
            optim.step()
        if dist.get_rank() == 0:
            print(f"shared epoch {epoch} loss {loss.item():.4f}", flush=True)


def segment_phase(model, table, epochs):
    comm = SegmentComm()
    model.layers.requires_grad_(False)
    optim = torch.optim.SGD(model.head.parameters(), lr=0.05)
    for epoch in range(epochs):
        for x, y in table.batches(128, 100 + epoch):
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            optim.zero_grad()
            loss.backward()
            for p in model.head.parameters():
                comm.mean_(p.grad)
            optim.step()
    return comm.exchange(loss.item())
