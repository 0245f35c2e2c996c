import argparse
import random

import torch
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from asr_datamodule import MELS, LibriSpeechAsrDataModule
from conformer import Conformer
from dist_setup import cleanup_dist, free_port, setup_dist


def get_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--world-size", type=int, default=2)
    parser.add_argument("--num-epochs", type=int, default=2)
    parser.add_argument("--num-train", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--num-workers", type=int, default=1)
    return parser


def train_one_epoch(model, optimizer, train_dl):
    model.train()
    total = 0.0
    for feature, label in train_dl:
        loss = nn.functional.cross_entropy(model(feature), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(train_dl)


def run(rank, world_size, args):
    setup_dist(rank, world_size, args.master_port)
    random.seed(42)
    torch.manual_seed(42)
    model = DDP(Conformer(MELS))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    librispeech = LibriSpeechAsrDataModule(args)
    train_dl = librispeech.train_dataloaders()
    for epoch in range(args.num_epochs):
        train_dl.sampler.set_epoch(epoch)
        loss = train_one_epoch(model, optimizer, train_dl)
        if rank == 0:
            print(f"epoch {epoch} loss {loss:.4f}", flush=True)
    cleanup_dist()


def main():
    args = get_parser().parse_args()
    args.master_port = free_port()
    mp.spawn(run, args=(args.world_size, args), nprocs=args.world_size, join=True)


if __name__ == "__main__":
    main()
