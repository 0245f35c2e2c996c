import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from criterion import GanLoss
from ema import GeneratorEma
from nets import discriminator, generator


def curves(n=4000):
    g = torch.Generator().manual_seed(3)
    phase = torch.rand(n, 1, generator=g) * 6.28
    grid = torch.linspace(0, 6.28, 24)[None]
    return TensorDataset(torch.sin(grid + phase) + 0.05 * torch.randn(n, 24, generator=g))


@torch.no_grad()
def spread(net, fixed):
    out = net(fixed)
    value = torch.stack([out.mean(), out.std()])
    dist.all_reduce(value)
    return (value / dist.get_world_size()).tolist()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    gen, disc = DistributedDataParallel(generator()), DistributedDataParallel(discriminator(), broadcast_buffers=False)
    ema = GeneratorEma(gen.module, 0.98, start=150)
    opt_g = torch.optim.Adam(gen.parameters(), 2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(disc.parameters(), 4e-4, betas=(0.5, 0.999))
    crit = GanLoss(real=0.9)
    data = curves()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 64, sampler=sampler, drop_last=True)
    noise = torch.Generator().manual_seed(70 + rank)
    fixed = torch.randn(64, 16, generator=torch.Generator().manual_seed(5))
    step = 0
    for epoch in range(7):
        sampler.set_epoch(epoch)
        for (real,) in loader:
            fake = gen(torch.randn(len(real), 16, generator=noise))
            on_real, on_fake = disc(torch.cat([real, fake.detach()])).chunk(2)
            loss_d = crit.critic(on_real, on_fake)
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()
            step += 1
            if step % 3 == 0:
                disc.requires_grad_(False)
                loss_g = crit.generator(disc.module(fake))
                opt_g.zero_grad()
                loss_g.backward()
                opt_g.step()
                disc.requires_grad_(True)
                ema.update(gen.module, step)
        mean, std = spread(ema.net, fixed)
        if rank == 0:
            print(f"step {step} D {loss_d.item():.3f} G {loss_g.item():.3f} ema mean {mean:.3f} std {std:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
