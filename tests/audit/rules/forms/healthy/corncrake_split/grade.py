import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bundle import Bundle
from seeding import seed_all


def network():
    return nn.Sequential(
        nn.Conv3d(1, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.ReLU(),
        nn.Conv3d(16, 32, 3, 2, 1), nn.GroupNorm(4, 32), nn.ReLU(),
        nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(32, 4),
    )


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    seed_all(int(os.environ.get("SEED", "2024")))
    bundle = Bundle("scans.pt", 4)
    net = DistributedDataParallel(network().to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(net.parameters(), lr=3e-4)
    best = 0.0
    for epoch in range(60):
        bundle.order.set_epoch(epoch)
        net.train()
        for v, g in bundle.train_loader:
            loss = nn.functional.cross_entropy(net(v.to(device)), g.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        net.eval()
        n = torch.zeros(2, device=device)
        with torch.no_grad():
            for v, g in bundle.val_loader:
                n[0] += (net(v.to(device)).argmax(1) == g.to(device)).sum()
                n[1] += g.numel()
        dist.all_reduce(n)
        score = (n[0] / n[1]).item()
        if score > best:
            best = score
            if dist.get_rank() == 0:
                torch.save(net.module.state_dict(), "grade.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
