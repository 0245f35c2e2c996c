import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from agree import everywhere


@dataclass
class FlowConfig:
    path: str = "points.pt"
    width: int = 256
    layers: int = 6
    epochs: int = 80
    batch: int = 256
    skips: int = 50


class Coupling(nn.Module):
    def __init__(self, dim, width, flip):
        super().__init__()
        self.half, self.flip = dim // 2, flip
        self.net = nn.Sequential(nn.Linear(self.half, width), nn.SiLU(), nn.Linear(width, 2 * (dim - self.half)))

    def forward(self, x):
        a, b = x[:, : self.half], x[:, self.half :]
        shift, log_s = self.net(a).chunk(2, -1)
        log_s = log_s.tanh()
        y = torch.cat([a, b * log_s.exp() + shift], 1)
        return (y.flip(1) if self.flip else y), log_s.sum(1)


class Flow(nn.Module):
    def __init__(self, dim, cfg):
        super().__init__()
        self.steps = nn.ModuleList(Coupling(dim, cfg.width, True) for _ in range(cfg.layers))

    def forward(self, x):
        total = x.new_zeros(x.size(0))
        for s in self.steps:
            x, d = s(x)
            total = total + d
        return 0.5 * x.pow(2).sum(1) - total


def main(cfg=FlowConfig()):
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(3)
    x = torch.load(cfg.path, map_location="cpu", weights_only=True)
    ds = TensorDataset(x)
    order = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, cfg.batch, sampler=order, drop_last=True, pin_memory=True)
    net = DistributedDataParallel(Flow(x.size(1), cfg).to(device), device_ids=[device.index])
    opt = torch.optim.Adam(net.parameters(), lr=3e-4)
    skipped = 0
    for epoch in range(cfg.epochs):
        order.set_epoch(epoch)
        for (x,) in loader:
            loss = net(x.to(device, non_blocking=True)).mean()
            opt.zero_grad(set_to_none=True)
            if not everywhere(torch.isfinite(loss)):
                skipped += 1
                if skipped > cfg.skips:
                    raise FloatingPointError(f"{skipped} batches skipped")
                continue
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            opt.step()
        if dist.get_rank() == 0:
            torch.save(net.module.state_dict(), "flow.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
