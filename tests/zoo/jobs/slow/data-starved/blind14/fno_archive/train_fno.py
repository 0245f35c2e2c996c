import argparse
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from fno.data import DarcyArchive
from fno.generate import darcy_like
from fno.layers import FNO


def relative_l2(pred, ref):
    return ((pred - ref).flatten(1).norm(dim=1) / ref.flatten(1).norm(dim=1)).mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="data/darcy.npz")
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--batch-size", type=int, default=5)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0 and not os.path.exists(args.data):
        os.makedirs(os.path.dirname(args.data), exist_ok=True)
        darcy_like(args.data)
    dist.barrier()
    torch.manual_seed(0)
    data = DarcyArchive(args.data)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, args.batch_size, sampler=sampler, drop_last=True)
    model = DDP(FNO())
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs * len(loader))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        tic, running = time.time(), 0.0
        for i, (x, y) in enumerate(loader, 1):
            loss = relative_l2(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            running += loss.item()
            if rank == 0 and i % 12 == 0:
                print(f"epoch {epoch} {i}/{len(loader)} rel-l2 {running / i:.4f} {(time.time() - tic) / i * 1e3:.0f} ms/it", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
