import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from env import Env
from loaders import build_loader


class Denoiser(nn.Module):
    def __init__(self, dim=64, width=192):
        super().__init__()
        self.rnn, self.out = nn.GRU(dim, width, batch_first=True), nn.Linear(width, dim)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


class Trainer:
    def __init__(self, config):
        self.config = config
        self.env = Env.start(config.seed)
        self.loader = build_loader(config, self.env)
        self.model = DDP(Denoiser())
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def step(self, clean):
        noisy = clean + torch.randn_like(clean) * torch.rand(len(clean), 1, 1)
        loss = (self.model(noisy) - clean).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def run(self):
        for epoch in range(self.config.epochs):
            self.loader.sampler.set_epoch(epoch)
            losses = [self.step(c) for c in self.loader]
            if self.env.rank == 0:
                print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}", flush=True)
        dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--seed", type=int, default=1)
    Trainer(ap.parse_args()).run()
