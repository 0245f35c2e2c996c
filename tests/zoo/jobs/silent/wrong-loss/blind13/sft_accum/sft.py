import contextlib
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from dialogs import Dialogs
from loss import token_loss


@dataclass
class Args:
    accumulate: int = 4
    micro: int = 2
    steps: int = 120
    lr: float = 1e-3


class LM(nn.Module):
    def __init__(self, vocab=200, dim=96):
        super().__init__()
        self.emb, self.out = nn.Embedding(vocab, dim), nn.Linear(dim, vocab)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


def forever(loader, sampler):
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def optimizer_step(model, opt, batches, args):
    opt.zero_grad()
    total = 0.0
    for i in range(args.accumulate):
        ids, labels = next(batches)
        last = i == args.accumulate - 1
        with contextlib.nullcontext() if last else model.no_sync():
            loss = token_loss(model(ids), labels) / args.accumulate
            loss.backward()
        total += loss.item()
    opt.step()
    return total


def main(args):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(LM())
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    data = Dialogs()
    sampler = DistributedSampler(data, seed=1)
    batches = forever(DataLoader(data, batch_size=args.micro, sampler=sampler), sampler)
    for step in range(args.steps):
        loss = optimizer_step(model, opt, batches, args)
        if step % 30 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Args())
