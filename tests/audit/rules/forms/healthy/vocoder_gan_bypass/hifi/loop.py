import itertools
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from hifi.util import mel, toggle, unwrap


class Generator(nn.Module):
    def __init__(self, bins=513, ch=256):
        super().__init__()
        self.pre = nn.Conv1d(bins, ch, 7, padding=3)
        self.up = nn.ConvTranspose1d(ch, 1, 512, stride=256, padding=128)

    def forward(self, spec):
        return torch.tanh(self.up(F.leaky_relu(self.pre(spec), 0.1)))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 64, 15, 4), nn.LeakyReLU(0.1), nn.Conv1d(64, 128, 41, 4, groups=4),
            nn.LeakyReLU(0.1), nn.Conv1d(128, 1, 3),
        )

    def forward(self, wave):
        return self.net(wave)


class VocoderTask:
    def __init__(self, dataset, cfg):
        self.local = int(os.environ["LOCAL_RANK"])
        self.cfg = cfg
        self.gen = DDP(Generator().cuda(), device_ids=[self.local])
        self.critic = DDP(Critic().cuda(), device_ids=[self.local], broadcast_buffers=False)
        self.opt_g = torch.optim.AdamW(self.gen.parameters(), 2e-4, betas=(0.8, 0.99))
        self.opt_d = torch.optim.AdamW(self.critic.parameters(), 2e-4, betas=(0.8, 0.99))
        self.sampler = DistributedSampler(dataset, drop_last=True)
        self.loader = DataLoader(dataset, cfg.batch, sampler=self.sampler, num_workers=4)

    def synth(self, wave):
        fake = self.gen(mel(wave))
        return fake[..., : wave.size(-1)]

    def critic_step(self, wave, fake):
        toggle(self.critic, True)
        both = self.critic(torch.cat([wave[..., : fake.size(-1)], fake.detach()]))
        real_out, fake_out = both.chunk(2)
        loss = ((real_out - 1) ** 2).mean() + (fake_out**2).mean()
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()

    def generator_step(self, wave, fake):
        toggle(self.critic, False)
        adv = ((unwrap(self.critic)(fake) - 1) ** 2).mean()
        rec = F.l1_loss(mel(fake), mel(wave[..., : fake.size(-1)]))
        self.opt_g.zero_grad()
        (adv + 45 * rec).backward()
        self.opt_g.step()
        return rec.item()

    def fit(self):
        for epoch in itertools.islice(itertools.count(), self.cfg.epochs):
            self.sampler.set_epoch(epoch)
            for wave in self.loader:
                wave = wave.cuda(non_blocking=True)
                fake = self.synth(wave)
                self.critic_step(wave, fake)
                rec = self.generator_step(wave, fake)
            if dist.get_rank() == 0:
                print(f"{epoch}: mel {rec:.3f}")
                torch.save(unwrap(self.gen).state_dict(), self.cfg.out)
