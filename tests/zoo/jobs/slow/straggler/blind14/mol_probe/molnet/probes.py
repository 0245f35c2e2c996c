import math

import torch


def random_rotation(generator):
    q, r = torch.linalg.qr(torch.randn(3, 3, generator=generator))
    q = q * torch.sign(torch.diagonal(r))
    if torch.det(q) < 0:
        q[:, 0] = -q[:, 0]
    return q


class Probe:
    def after_batch(self, ctx, batch):
        pass

    def after_epoch(self, ctx):
        pass


class Progress(Probe):
    def __init__(self, every):
        self.every = every

    def after_batch(self, ctx, batch):
        if ctx.step % self.every == 0:
            print(f"epoch {ctx.epoch} step {ctx.step} loss {ctx.loss:.4f}", flush=True)


class InvarianceProbe(Probe):
    """Largest change of the energies under random rotations of the positions."""

    def __init__(self, every_epochs, rotations, first_epoch=1):
        self.every_epochs = every_epochs
        self.rotations = rotations
        self.first_epoch = first_epoch
        self.generator = torch.Generator().manual_seed(0)
        self.worst = 0.0

    @torch.no_grad()
    def after_batch(self, ctx, batch):
        if ctx.epoch < self.first_epoch or ctx.epoch % self.every_epochs:
            return
        pos, z, mask, _ = batch
        base = ctx.net(pos, z, mask)
        for _ in range(self.rotations):
            turned = ctx.net(pos @ random_rotation(self.generator), z, mask)
            self.worst = max(self.worst, (turned - base).abs().max().item())

    def after_epoch(self, ctx):
        if not math.isclose(self.worst, 0.0):
            print(f"epoch {ctx.epoch} rotation error {self.worst:.2e}", flush=True)


def build_probes(rank, args):
    if rank:
        return []
    return [Progress(args.log_every), InvarianceProbe(args.probe_every, args.rotations)]
