import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from corpus import CharTokenizer, NotesDataset, write_shards


class CharLM(nn.Module):
    def __init__(self, vocab, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


def mean_over_ranks(value):
    t = torch.tensor(value)
    dist.all_reduce(t)
    return t.item() / dist.get_world_size()


def train_epoch(model, loader, optimizer):
    model.train()
    total = steps = 0
    for ids, target in loader:
        loss = F.cross_entropy(model(ids).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        steps += 1
    return mean_over_ranks(total / steps), steps


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default="shards")
    p.add_argument("--block", type=int, default=64)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--lr", type=float, default=4e-3)
    args = p.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    if rank == 0:
        write_shards(args.data)
    dist.barrier()

    tokenizer = CharTokenizer()
    data = NotesDataset(args.data, tokenizer, args.block)
    loader = DataLoader(data, batch_size=args.batch_size, num_workers=args.workers, drop_last=True)
    model = DDP(CharLM(len(tokenizer)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        data.set_epoch(epoch)
        loss, steps = train_epoch(model, loader, optimizer)
        if rank == 0:
            print(f"epoch {epoch} steps {steps} loss {loss:.4f}", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), os.path.join(args.data, "lm.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
