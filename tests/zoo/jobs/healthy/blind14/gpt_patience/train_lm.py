import argparse
from contextlib import ExitStack
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import LambdaLR

from lm import LM, sequences
from patience import Patience


class Run:
    def __init__(self, args):
        self.args, self.rank, self.world = args, dist.get_rank(), dist.get_world_size()
        torch.manual_seed(2)
        self.model = DDP(LM())
        trainable = [p for p in self.model.parameters() if p.requires_grad]
        self.optim = torch.optim.AdamW(trainable, lr=3e-3)
        self.sched = LambdaLR(self.optim, lambda s: min(1.0, s / args.warmup))
        self.train, self.valid = sequences(args.seqs, 48, 64, 10), sequences(256, 48, 64, 11)
        self.stop = Patience(args.patience, args.min_delta)
        torch.manual_seed(900 + self.rank)

    def loss(self, net, seq):
        return F.cross_entropy(net(seq[:, :-1]).flatten(0, 1), seq[:, 1:].flatten())

    def epoch(self, epoch):
        self.model.train()
        order = torch.randperm(len(self.train), generator=torch.Generator().manual_seed(epoch))[self.rank::self.world]
        for i, idx in enumerate(order.split(self.args.micro)):
            sync = (i + 1) % self.args.accum == 0
            with ExitStack() as stack:
                if not sync:
                    stack.enter_context(self.model.no_sync())
                (self.loss(self.model, self.train[idx]) / self.args.accum).backward()
            if sync:
                self.optim.step()
                self.sched.step()
                self.optim.zero_grad(set_to_none=True)

    @torch.no_grad()
    def validate(self):
        self.model.module.eval()
        return self.loss(self.model.module, self.valid).item()

    def save(self, epoch, loss):
        Path("ckpt").mkdir(exist_ok=True)
        torch.save({"epoch": epoch, "loss": loss, "model": self.model.module.state_dict()}, "ckpt/last.pt")

    def fit(self):
        for epoch in range(self.args.epochs):
            self.epoch(epoch)
            loss = float("nan")
            if self.rank == 0:
                loss = self.validate()
                self.save(epoch, loss)
                print(f"epoch {epoch} valid {loss:.4f} lr {self.sched.get_last_lr()[0]:.5f}", flush=True)
            if self.stop.should_stop(loss):
                break
        dist.barrier()
        best = torch.load("ckpt/last.pt")
        assert best["epoch"] == epoch


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--seqs", type=int, default=768)
    p.add_argument("--micro", type=int, default=16)
    p.add_argument("--accum", type=int, default=2)
    p.add_argument("--warmup", type=int, default=20)
    p.add_argument("--patience", type=int, default=1)
    p.add_argument("--min-delta", type=float, default=0.03)
    dist.init_process_group("gloo")
    Run(p.parse_args()).fit()
    dist.destroy_process_group()
