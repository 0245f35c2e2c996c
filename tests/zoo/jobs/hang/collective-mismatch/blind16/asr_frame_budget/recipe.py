import argparse
import logging
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from corpus import FrameBudgetBatches, Manifest, collate

log = logging.getLogger("recipe")


class Acoustic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(16, 48, 5, padding=2)
        self.rnn = nn.GRU(48, 48, batch_first=True)
        self.out = nn.Linear(48, 10)

    def forward(self, x):
        h = F.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


def run_epoch(model, opt, batches):
    total, frames = 0.0, 0
    for batch in batches:
        feats, lens, targets = collate(batch)
        logp = model(feats).transpose(0, 1)
        loss = F.ctc_loss(logp, targets, lens, torch.full((len(batch),), 5), zero_infinity=True)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * int(lens.sum())
        frames += int(lens.sum())
    stats = torch.tensor([total, float(frames)])
    dist.all_reduce(stats)
    return stats[0] / stats[1]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--max-frames", type=int, default=900)
    ap.add_argument("--utts", type=int, default=240)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DDP(Acoustic())
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    batches = FrameBudgetBatches(Manifest(args.utts).shard(rank, world), args.max_frames, seed=7)
    for epoch in range(args.epochs):
        batches.set_epoch(epoch)
        loss = run_epoch(model, opt, batches)
        if rank == 0:
            log.info("epoch %d ctc %.3f", epoch, loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
