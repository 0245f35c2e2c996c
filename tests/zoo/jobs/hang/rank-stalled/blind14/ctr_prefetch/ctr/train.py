import argparse
import logging
import os
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from .feeder import Feeder
from .logfile import write_logs
from .model import DeepCTR

log = logging.getLogger("ctr")


def prepare(args, rank):
    path = os.path.join(tempfile.mkdtemp(prefix="ctr"), f"part-{rank:05d}.tsv")
    write_logs(path, args.rows, seed=rank, malformed_at=args.rows * 3 // 5 if rank == 1 else None)
    return path


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=16000)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--steps", type=int, default=600)
    p.add_argument("--log-every", type=int, default=25)
    p.add_argument("--verbose", action="store_true")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.INFO, format=f"[{rank}] %(name)s: %(message)s")
    feeder = Feeder(prepare(args, rank), args.batch_size)
    torch.manual_seed(1)
    model = DDP(DeepCTR())
    opt = torch.optim.Adagrad(model.parameters(), lr=0.02)
    bce = torch.nn.BCEWithLogitsLoss()
    for step in range(1, args.steps + 1):
        user, item, hist, click = feeder.next()
        loss = bce(model(user, item, hist), click)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % args.log_every == 0 and rank == 0:
            log.info("step %d bce %.4f", step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
