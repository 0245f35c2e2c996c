import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def batches(batch, dim, device, seed):
    gen = torch.Generator(device=device).manual_seed(seed)
    while True:
        x = torch.randn(batch, dim, generator=gen, device=device)
        yield x, x.roll(1, -1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True)
    ap.add_argument("--steps", type=int, default=1000)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    model = DDP(nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    stream = batches(64, 512, device, dist.get_rank())
    for _ in range(args.steps):
        x, y = next(stream)
        opt.zero_grad(set_to_none=True)
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), os.path.join(args.out, "final.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
