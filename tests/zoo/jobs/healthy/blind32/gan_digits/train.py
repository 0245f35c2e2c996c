import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from nets import Critic, Generator, frozen

log = logging.getLogger("gan")


class Bars(Dataset):
    def __init__(self, n=768, side=12):
        g = torch.Generator().manual_seed(3)
        self.pos = torch.randint(0, side, (n,), generator=g)
        self.flip = torch.rand(n, generator=g) < 0.5
        self.noise = 0.1 * torch.randn(n, 1, side, side, generator=g)

    def __len__(self):
        return len(self.pos)

    def __getitem__(self, i):
        x = -torch.ones_like(self.noise[i])
        x[0, self.pos[i]] = 1
        return (x.transpose(1, 2) if self.flip[i] else x) + self.noise[i]


class GAN:
    def __init__(self, lr, z, rank):
        self.z, self.rng = z, torch.Generator().manual_seed(500 + rank)
        # the generator is called twice a step, so its statistics stay local and are brought together before saving
        self.g = DDP(Generator(z), broadcast_buffers=False)
        self.d = DDP(Critic(), broadcast_buffers=False)
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=lr, betas=(0.5, 0.99))

    def latent(self, n):
        return torch.randn(n, self.z, generator=self.rng)

    def critic_step(self, real):
        with torch.no_grad():
            fake = self.g(self.latent(len(real)))
        score = self.d(torch.cat([real, fake]))
        loss = F.softplus(-score[: len(real)]).mean() + F.softplus(score[len(real):]).mean()
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss.item()

    def generator_step(self, n):
        frozen(self.d.module, True)
        loss = F.softplus(-self.d.module(self.g(self.latent(n)))).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        frozen(self.d.module, False)
        return loss.item()

    def average_statistics(self):
        for net in (self.g, self.d):
            for b in net.buffers():
                if b.is_floating_point():
                    dist.all_reduce(b)
                    b /= dist.get_world_size()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--critic-steps", type=int, default=1)
    p.add_argument("--lr", type=float, default=5e-4)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    torch.manual_seed(0)
    data = Bars()
    sampler = DistributedSampler(data, seed=8)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler, drop_last=True)
    gan = GAN(args.lr, 16, rank)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        losses = torch.zeros(2)
        for i, real in enumerate(loader):
            losses[0] += gan.critic_step(real)
            if i % args.critic_steps == 0:
                losses[1] += gan.generator_step(len(real))
        gan.average_statistics()
        dist.all_reduce(losses)
        log.info("epoch %d critic %.3f generator %.3f", epoch, *(losses / len(loader) / dist.get_world_size()).tolist())
        if rank == 0:
            gan.g.eval()
            with torch.no_grad():
                torch.save({"net": gan.g.module.state_dict(), "samples": gan.g.module(torch.randn(8, 16))}, "gan.pt")
            gan.g.train()
        dist.barrier()
    del gan  # reducers go before the group that they use
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
