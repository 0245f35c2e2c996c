"""Flow-matching on precomputed latents."""
import argparse
import logging
import os
import shutil

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from latents import DPSampler, LatentDataset, write_synthetic_shards


class Velocity(nn.Module):
    def __init__(self, channels=4, width=32, cond=16):
        super().__init__()
        self.inp = nn.Conv2d(channels, width, 3, padding=1)
        self.cond = nn.Linear(cond + 1, width)
        self.mid = nn.Sequential(nn.SiLU(), nn.Conv2d(width, width, 3, padding=1), nn.SiLU())
        self.out = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, x, t, caption):
        h = self.inp(x) + self.cond(torch.cat([caption, t[:, None]], 1))[:, :, None, None]
        return self.out(self.mid(h))


def flow_loss(model, latent, caption):
    t = torch.rand(len(latent))
    noise = torch.randn_like(latent)
    tt = t[:, None, None, None]
    x_t = (1 - tt) * noise + tt * latent
    return ((model(x_t, t, caption) - (latent - noise)) ** 2).mean()


@torch.no_grad()
def update_ema(ema, model, decay):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.lerp_(p, 1 - decay)


def main_worker(rank, args):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=args.nprocs)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    log = logging.getLogger("train")
    torch.set_num_threads(1)
    torch.manual_seed(args.seed + rank)

    dataset = LatentDataset(args.data, rank, args.stagger)
    sampler = DPSampler(len(dataset), args.batch_size, rank, args.nprocs, args.seed)
    loader = DataLoader(dataset, batch_sampler=sampler, num_workers=args.workers)

    net = Velocity()
    ema = Velocity()
    ema.load_state_dict(net.state_dict())
    model = DDP(net)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    log.info("rank %d: %d batches per epoch", rank, len(sampler))

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for latent, caption in loader:
            loss = flow_loss(model, latent, caption)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            update_ema(ema, net, args.ema)
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        if rank == 0:
            log.info("epoch %d loss %.4f", epoch, total[0] / total[1])
            torch.save({"model": net.state_dict(), "ema": ema.state_dict(), "epoch": epoch}, args.out)
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default="latents")
    p.add_argument("--out", default="velocity.pt")
    p.add_argument("--nprocs", type=int, default=2)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--workers", type=int, default=0)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--ema", type=float, default=0.99)
    p.add_argument("--seed", type=int, default=17)
    p.add_argument("--stagger", type=float, default=3.0)
    p.add_argument("--port", type=int, default=29531)
    p.add_argument("--fresh", action="store_true", help="write the synthetic shards anew")
    args = p.parse_args()
    if args.fresh or not os.path.isdir(args.data):
        shutil.rmtree(args.data, ignore_errors=True)
        write_synthetic_shards(args.data)
    mp.spawn(main_worker, args=(args,), nprocs=args.nprocs)


if __name__ == "__main__":
    main()
