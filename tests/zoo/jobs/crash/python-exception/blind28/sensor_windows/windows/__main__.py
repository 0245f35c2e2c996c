import argparse
import logging
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from .net import WindowNet
from .recordings import load, simulate
from .scoring import collect, macro_f1

logger = logging.getLogger("windows")


def options():
    parser = argparse.ArgumentParser(prog="windows")
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--machines", type=int, default=6)
    parser.add_argument("--holdout", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-3)
    return parser.parse_args()


def data_folder(args, rank):
    name = [str(args.data or tempfile.mkdtemp(prefix="windows_"))]
    dist.broadcast_object_list(name, src=0)
    folder = Path(name[0])
    if rank == 0 and not (folder / "train").exists():
        simulate(folder, args.machines, args.holdout)
    dist.barrier()
    return folder


def main():
    args = options()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(name)s: %(message)s")
    torch.manual_seed(1)
    torch.set_num_threads(1)
    folder = data_folder(args, rank)
    train = load(folder, "train", rank, world)
    holdout = load(folder, "holdout", rank, world)
    logger.info("%d windows to train on, %d held out", len(train), len(holdout))

    model = DistributedDataParallel(WindowNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    best = 0.0
    for epoch in range(args.epochs):
        model.train()
        for signal, kind in DataLoader(train, args.batch, shuffle=True, drop_last=True):
            loss = torch.nn.functional.cross_entropy(model(signal), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        f1 = macro_f1(*collect(model.module, DataLoader(holdout, args.batch)))
        logger.info("epoch %d: loss %.3f, F1 %.3f", epoch, loss.item(), f1)
        if rank == 0 and f1 > best:
            best = f1
            torch.save(model.module.state_dict(), folder / "best.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
