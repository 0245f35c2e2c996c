"""The backbone is unfrozen after DDP has built its reducer: its gradients are never reduced."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(16, 16)
        self.head = nn.Linear(16, 2)

    def freeze_backbone(self, frozen=True):
        for p in self.backbone.parameters():
            p.requires_grad_(not frozen)  # cause

    def forward(self, x):
        return self.head(self.backbone(x).relu())


def train(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    net = Net()
    net.freeze_backbone()
    model = DistributedDataParallel(net)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    torch.manual_seed(rank)
    for epoch in range(4):
        if epoch == 1:
            model.module.freeze_backbone(False)  # cause
        for _ in range(10):
            loss = model(torch.randn(8, 16)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(train, args=(2,), nprocs=2)
