import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from packer import Packer


class Chars(nn.Module):
    def __init__(self, vocab=512, dim=512):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, dim, 2, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


def train_epoch(net, opt, packer, device):
    total, steps = 0.0, 0
    for src, tgt in packer:
        logits = net(src.to(device))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tgt.to(device).flatten(), ignore_index=0)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        total += loss.item()
        steps += 1
    return total, steps


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder")
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--budget", type=int, default=8192)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(19)
    net = DistributedDataParallel(Chars().to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    packer = Packer(args.folder, rank, world, args.budget)
    for epoch in range(args.epochs):
        with net.join():
            total, steps = train_epoch(net, opt, packer, device)
        sums = torch.tensor([total, float(steps)], device=device)
        dist.all_reduce(sums)
        if rank == 0:
            print(epoch, f"{(sums[0] / sums[1]).item():.4f}", flush=True)
            torch.save(net.module.state_dict(), "chars.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
