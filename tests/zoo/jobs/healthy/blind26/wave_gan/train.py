import argparse
import contextlib
import copy
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def make_generator(z=8, length=32):
    return nn.Sequential(nn.Linear(z, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, length), nn.Tanh())


def make_critic(length=32):
    return nn.Sequential(nn.Linear(length, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))


def real_waves(n, generator, length=32):
    t = torch.linspace(0, 6.2832, length)
    phase = torch.rand(n, 1, generator=generator) * 6.2832
    return 0.8 * torch.sin(t * 2 + phase)


def require_grad(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


class GanLoop:
    def __init__(self, args):
        self.args = args
        self.rank = int(os.environ["RANK"])
        torch.manual_seed(10)
        self.g, self.d = DDP(make_generator(args.z)), DDP(make_critic())
        self.average = copy.deepcopy(self.g.module).eval()
        require_grad(self.average, False)
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=1e-3, betas=(0.0, 0.9))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=2e-3, betas=(0.0, 0.9))
        self.noise = torch.Generator().manual_seed(500 + self.rank)

    def latent(self):
        return torch.randn(self.args.batch, self.args.z, generator=self.noise)

    def critic_step(self):
        require_grad(self.d, True)
        self.opt_d.zero_grad(set_to_none=True)
        value = 0.0
        for k in range(self.args.accumulate):
            last = k == self.args.accumulate - 1
            with torch.no_grad():
                fake = self.g.module(self.latent())
            both = torch.cat([real_waves(self.args.batch, self.noise), fake])
            with contextlib.nullcontext() if last else self.d.no_sync():
                real_score, fake_score = self.d(both).chunk(2)
                loss = (torch.relu(1 - real_score).mean() + torch.relu(1 + fake_score).mean()) / self.args.accumulate
                loss.backward()
            value += loss.item()
        self.opt_d.step()
        return value

    def generator_step(self):
        require_grad(self.d, False)
        self.opt_g.zero_grad(set_to_none=True)
        loss = -self.d.module(self.g(self.latent())).mean()
        loss.backward()
        self.opt_g.step()
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), self.g.module.parameters()):
                slow.lerp_(fast, 1 - self.args.ema)
        return loss.item()

    def run(self):
        for step in range(self.args.steps):
            d = self.critic_step()
            g = self.generator_step()
            if step % 40 == 0:
                pair = torch.tensor([d, g])
                dist.reduce(pair, dst=0)
                if self.rank == 0:
                    print(f"{step:4d} critic {pair[0] / 2:.3f} generator {pair[1] / 2:.3f}", flush=True)
        if self.rank == 0:
            torch.save({"g": self.g.module.state_dict(), "average": self.average.state_dict()}, "wave_gan.pt")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=200)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--z", type=int, default=8)
    ap.add_argument("--accumulate", type=int, default=2)
    ap.add_argument("--ema", type=float, default=0.98)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    GanLoop(args).run()
    dist.barrier()
    dist.destroy_process_group()
