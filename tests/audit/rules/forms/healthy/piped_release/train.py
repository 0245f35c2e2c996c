import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--steps", type=int, default=3000)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)).to(local)
    net = DistributedDataParallel(net, device_ids=[local])
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    gen = torch.Generator("cuda").manual_seed(5 + dist.get_rank())
    for step in range(args.steps):
        x = torch.randn(512, 64, device="cuda", generator=gen)
        loss = nn.functional.mse_loss(net(x + 0.1 * x.roll(1, -1)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), args.out / "final.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
