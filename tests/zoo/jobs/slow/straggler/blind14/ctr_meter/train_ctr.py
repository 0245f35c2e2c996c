import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler

from clicks import Clicks
from deepfm import DeepFM
from meters import Board


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--rows", type=int, default=49152)
    p.add_argument("--log-every", type=int, default=32)
    args = p.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(14)
    data = Clicks(args.rows)
    sampler = DistributedSampler(data, seed=3)
    loader = DataLoader(data, batch_size=None, sampler=BatchSampler(sampler, args.batch, drop_last=True))
    model = DDP(DeepFM())
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    board = Board(dist.get_rank(), args.log_every)
    step = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for ids, y in loader:
            logits = model(ids)
            loss = F.binary_cross_entropy_with_logits(logits, y)
            optim.zero_grad()
            loss.backward()
            optim.step()
            step += 1
            board.observe(step, logits, y, loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
