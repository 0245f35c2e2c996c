import argparse
import logging
import os
import signal

import torch
import torch.distributed as dist

from recsys import checkpoint
from recsys.data import Ratings
from recsys.model import MatrixFactorization

log = logging.getLogger("recsys")


class Preemption:
    def __init__(self):
        self.requested = False
        signal.signal(signal.SIGUSR1, self._handler)
        signal.signal(signal.SIGTERM, self._bypass)

    def _handler(self, signum, frame):
        log.warning("got signal %d, will save and stop after this step", signum)
        self.requested = True

    def _bypass(self, signum, frame):
        log.warning("bypassing SIGTERM")


def average_gradients(model, world):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world
    offset = 0
    for p in model.parameters():
        n = p.numel()
        p.grad.copy_(flat[offset : offset + n].view_as(p))
        offset += n


@torch.no_grad()
def rmse(model, ratings, generator, world, n=2048):
    u, i, r = ratings.sample(n, generator)
    total = ((model(u, i) - r) ** 2).mean()
    dist.all_reduce(total)
    return (total / world).sqrt().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--users", type=int, default=3000)
    p.add_argument("--items", type=int, default=1000)
    p.add_argument("--dim", type=int, default=16)
    p.add_argument("--batch-size", type=int, default=512)
    p.add_argument("--steps", type=int, default=60000)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--eval-every", type=int, default=200)
    p.add_argument("--save-every", type=int, default=500)
    p.add_argument("--out", default="runs/mf")
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()

    dist.init_process_group("gloo", init_method="env://")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank{rank} %(message)s")
    preemption = Preemption()
    torch.manual_seed(args.seed)
    model = MatrixFactorization(args.users, args.items, args.dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    ratings = Ratings(args.users, args.items, 8, args.seed)
    train_gen = torch.Generator().manual_seed(100 + rank)
    path = os.path.join(args.out, "last.pt")
    start = checkpoint.resume(path, model, optimizer)

    for step in range(start, args.steps):
        u, i, r = ratings.sample(args.batch_size, train_gen)
        loss = ((model(u, i) - r) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model, world)
        optimizer.step()
        if step % args.eval_every == 0:
            value = rmse(model, ratings, torch.Generator().manual_seed(5 + rank), world)
            if rank == 0:
                log.info("step %d rmse %.4f", step, value)
        if preemption.requested:
            checkpoint.save(path, model, optimizer, step + 1)
            if rank == 0:
                open(os.path.join(args.out, "REQUEUE"), "w").close()
            log.info("saved at step %d, leaving", step + 1)
            break
        if (step + 1) % args.save_every == 0:
            checkpoint.save(path, model, optimizer, step + 1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
