from __future__ import annotations

import argparse
import itertools
import time

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from reader import Vocabulary, examples


class Bigram(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(size, 24)
        self.head = nn.Linear(24, size)

    def forward(self, tokens: Tensor) -> Tensor:
        logits = self.head(self.table(tokens[:, :-1]))
        return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def grouped(iterable, size):
    iterator = iter(iterable)
    while chunk := list(itertools.islice(iterator, size)):
        yield torch.stack(chunk)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    vocabulary = Vocabulary()
    model = DistributedDataParallel(Bigram(len(vocabulary)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        for step, tokens in enumerate(grouped(examples(f"shard{dist.get_rank()}.txt", vocabulary), args.batch)):
            loss = model(tokens)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        save(model, epoch)
    dist.destroy_process_group()
    time.sleep(0.5)


def save(model: nn.Module, epoch: int) -> None:
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), f"epoch{epoch}.pt")
    dist.barrier()  # nobody reads a half-written file


if __name__ == "__main__":
    main()
