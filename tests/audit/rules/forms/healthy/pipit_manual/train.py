import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from sync import GradientSync


class Switch(nn.Module):
    """Each batch goes to one of two heads by its kind."""

    def __init__(self, inputs, width=256):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.GELU())
        self.heads = nn.ModuleList([nn.Linear(width, 1), nn.Linear(width, 1)])

    def forward(self, x, kind):
        return self.heads[kind](self.body(x)).squeeze(-1)


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    world = dist.get_world_size()
    torch.manual_seed(8)
    blob = torch.load("two_kinds.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, 128, sampler=order, drop_last=True)
    net = Switch(blob["x"].size(1)).cuda()
    sync = GradientSync(net)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for epoch in range(20):
        order.set_epoch(epoch)
        for n, (x, y) in enumerate(loader):
            kind = int(y.mean() > 0)
            loss = nn.functional.mse_loss(net(x.cuda(), kind), y.cuda())
            opt.zero_grad(set_to_none=True)
            (loss / world).backward()
            sync.begin()
            sync.end()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
    if dist.get_rank() == 0:
        torch.save(net.state_dict(), "switch.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
