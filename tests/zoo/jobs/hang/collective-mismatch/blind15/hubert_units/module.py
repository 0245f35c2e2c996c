import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


class MaskedUnits(nn.Module):
    def __init__(self, dim=20, width=64, clusters=16):
        super().__init__()
        self.mask = nn.Parameter(torch.zeros(dim))
        self.rnn = nn.GRU(dim, width, batch_first=True)
        self.out = nn.Linear(width, clusters)

    def forward(self, x, drop):
        x = torch.where(drop.unsqueeze(-1), self.mask, x)
        return self.out(self.rnn(x)[0])


class PretrainModule:
    def __init__(self, model, optimizer, mask_prob=0.3, clip=5.0):
        self.model, self.opt, self.mask_prob, self.clip = model, optimizer, mask_prob, clip
        self.frames_seen = 0

    def loss(self, x, y):
        drop = torch.rand(y.shape) < self.mask_prob
        logits = self.model(x, drop)
        target = torch.where(drop, y, -1)
        return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=-1), (target >= 0).sum()

    def training_step(self, batch):
        loss, frames = self.loss(*batch)
        if torch.isinf(loss) or torch.isnan(loss):
            self.opt.zero_grad()
            return None
        counts = [torch.zeros_like(frames) for _ in range(dist.get_world_size())]
        dist.all_gather(counts, frames)
        total = torch.stack(counts).sum()
        self.opt.zero_grad()
        (loss * frames * dist.get_world_size() / total).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.opt.step()
        self.frames_seen += int(total)
        return loss.item()
