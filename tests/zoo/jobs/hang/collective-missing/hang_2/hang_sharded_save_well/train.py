"""Small FSDP2 language model.  torchrun --nproc-per-node 2 train.py"""
import argparse
from datetime import timedelta

import time

import torch
import torch.distributed as dist

from checkpoint import save
from model import build


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank = dist.get_rank()
        self.is_main = self.rank == 0
        self.model = build(args.width, args.layers)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)
        self.data = torch.Generator().manual_seed(100 + self.rank)

    def fit(self):
        for epoch in range(self.args.epochs):
            total = 0.0
            for _ in range(self.args.steps):
                total += self.step()
            if self.rank == 0:
                print(f"epoch {epoch}: {total / self.args.steps:.4f}", flush=True)
            self.finish_epoch(epoch)

    def step(self):
        x = torch.randint(0, 64, (8, 16), generator=self.data)
        logits = self.model(x[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def finish_epoch(self, epoch):
        if epoch % self.args.save_every != self.args.save_every - 1:
            return
        save(self.model, self.optimizer, f"{self.args.out}/epoch{epoch}.pt")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--save-every", type=int, default=3)
    parser.add_argument("--out", default="checkpoints")
    args = parser.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(minutes=15))
    torch.manual_seed(0)
    Trainer(args).fit()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
