"""Embeds the tiles of each slide on all ranks: python embed.py --nproc 2 --slides 3"""
import argparse
import logging
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.utils.data import DataLoader, Subset

from slides import TileDataset, cohort
from store import FeatureStore, summary


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.proj = nn.Linear(16, dim)

    def forward(self, x):
        return self.proj(torch.relu(self.conv(x)).mean(dim=(2, 3)))


def rank_tiles(dataset, rank, world):
    """A run of neighbouring tiles for each rank, without background."""
    chunk = -(-len(dataset) // world)
    own = range(rank * chunk, min(len(dataset), (rank + 1) * chunk))
    return [i for i in own if dataset.has_tissue(i)]


@torch.no_grad()
def embed_slide(encoder, slide, n_tiles, args, rank, world):
    dataset = TileDataset(slide, n_tiles)
    mine = rank_tiles(dataset, rank, world)
    loader = DataLoader(Subset(dataset, mine), batch_size=args.batch_size, num_workers=0)
    store = FeatureStore(args.output, slide, n_tiles, args.dim, rank)
    for step, (positions, tiles) in enumerate(loader):
        features = encoder(tiles)
        store.put(positions.numpy(), features.numpy())
        if rank == 0 and step % 50 == 0:
            logging.info("%s: %d of %d batches", slide, step, len(loader))
    written = torch.tensor(store.close())
    dist.all_reduce(written)
    return int(written)


def refresh_manifest(args, done):
    with open(os.path.join(args.output, "manifest.csv"), "w") as f:
        f.write("slide,tiles,mean\n")
        for slide in done:
            s = summary(os.path.join(args.output, f"{slide}.npy"), args.dim)
            f.write(f"{slide},{s['tiles']},{s['mean']:.5f}\n")


def worker(rank, world, port, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    encoder = Encoder(args.dim).eval()
    done = []
    for slide, n_tiles in cohort(args.slides, args.tiles):
        total = embed_slide(encoder, slide, n_tiles, args, rank, world)
        done.append(slide)
        if rank == 0:
            logging.info("%s: %d tiles", slide, total)
            refresh_manifest(args, done)
        dist.barrier()
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--nproc", type=int, default=2)
    p.add_argument("--slides", type=int, default=3)
    p.add_argument("--tiles", type=int, default=2048)
    p.add_argument("--dim", type=int, default=512)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--output", default="features")
    args = p.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(worker, (args.nproc, port, args), nprocs=args.nproc)


if __name__ == "__main__":
    main()
