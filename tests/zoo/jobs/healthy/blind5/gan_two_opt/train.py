"""WGAN-GP on a ring of Gaussians; the generator goes through DDP, the critic's gradients (second order) are averaged by hand."""
import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

N_CRITIC, LAMBDA_GP, ITERS, BATCH = 2, 1.0, 24, 32


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def real_batch(g):
    angle = torch.randint(0, 8, (BATCH,), generator=g) * (2 * math.pi / 8)
    return torch.stack([angle.cos(), angle.sin()], 1) * 2 + 0.1 * torch.randn(BATCH, 2, generator=g)


def gradient_penalty(critic, real, fake, g):
    mix = torch.rand(BATCH, 1, generator=g)
    x = (mix * real + (1 - mix) * fake).requires_grad_(True)
    grad, = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return (grad.norm(dim=1) - 1).square().mean()


def critic_loss(netD, real, fake, g):
    scores = netD(torch.cat([real, fake]))
    return scores[BATCH:].mean() - scores[:BATCH].mean() + LAMBDA_GP * gradient_penalty(netD, real, fake, g)


def all_reduce_grads(module):
    for p in module.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(90)
    netD = mlp(2, 48, 48, 1)
    netG = DDP(mlp(6, 48, 48, 2))
    optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.0, 0.9))
    optG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.0, 0.9))
    g = torch.Generator().manual_seed(4000 + rank)
    for it in range(ITERS):
        netD.requires_grad_(True)
        for _ in range(N_CRITIC):
            with torch.no_grad():
                fake = netG(torch.randn(BATCH, 6, generator=g))
            lossD = critic_loss(netD, real_batch(g), fake, g)
            optD.zero_grad()
            lossD.backward()
            all_reduce_grads(netD)
            optD.step()
        netD.requires_grad_(False)
        lossG = -netD(netG(torch.randn(BATCH, 6, generator=g))).mean()
        optG.zero_grad()
        lossG.backward()
        optG.step()
        if it % 6 == 5:
            stats = torch.stack([lossD.detach(), lossG.detach()])
            dist.all_reduce(stats)
            if rank == 0:
                d, gl = (stats / dist.get_world_size()).tolist()
                print(f"iter {it + 1}: critic {d:.3f} generator {gl:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
