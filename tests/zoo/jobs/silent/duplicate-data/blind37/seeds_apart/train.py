import argparse
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

torch.set_num_threads(1)


class Clips(Dataset):
    """Latents of short clips with the caption's embedding."""

    def __init__(self, n, seed=0):
        g = torch.Generator().manual_seed(seed)
        mix = torch.randn(12, 48, generator=torch.Generator().manual_seed(3))
        self.caption = torch.randn(n, 12, generator=g)
        self.latent = torch.tanh(self.caption @ mix / 3) + 0.1 * torch.randn(n, 48, generator=g)

    def __len__(self):
        return len(self.latent)

    def __getitem__(self, i):
        return self.latent[i], self.caption[i]


class FlowNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(48 + 12 + 1, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, 48))

    def forward(self, x, t, caption):
        return self.net(torch.cat([x, t, caption], 1))


class Trainer:
    def __init__(self, args):
        self.args, self.rank, self.world = args, dist.get_rank(), dist.get_world_size()
        seed = (int(time.time()) if args.seed is None else args.seed) * (self.rank + 1)
        torch.manual_seed(seed)
        self.data = Clips(args.clips)
        self.sampler = DistributedSampler(self.data, self.world, self.rank, shuffle=True, seed=seed, drop_last=True)
        self.loader = DataLoader(self.data, args.batch, sampler=self.sampler, drop_last=True)
        self.model = DistributedDataParallel(FlowNet())
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def loss(self, latent, caption):
        noise, t = torch.randn_like(latent), torch.rand(len(latent), 1)
        return F.mse_loss(self.model((1 - t) * noise + t * latent, t, caption), latent - noise)

    def run(self):
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            total = torch.zeros(())
            for latent, caption in self.loader:
                loss = self.loss(latent, caption)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                total += loss.detach()
            total /= len(self.loader)
            dist.all_reduce(total)
            if self.rank == 0:
                print(f"epoch {epoch} flow loss {total.item() / self.world:.4f}", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--clips", type=int, default=3000)
    ap.add_argument("--batch", type=int, default=25)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--seed", type=int, default=42)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    Trainer(args).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
