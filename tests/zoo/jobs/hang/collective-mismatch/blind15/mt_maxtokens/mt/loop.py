import logging

import torch
import torch.distributed as dist
from torch import nn

from mt.corpus import PAD

log = logging.getLogger("mt")


class Tagger(nn.Module):
    def __init__(self, vocab=90, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 96, dropout=0.1, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.out(self.layer(self.embed(tokens), src_key_padding_mask=tokens == PAD))


class Fitter:
    def __init__(self, model, opt):
        self.model, self.opt, self.updates = model, opt, 0

    def update(self, source, target):
        loss = nn.functional.cross_entropy(self.model(source).flatten(0, 1), target.flatten(), ignore_index=PAD)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        return loss.item()

    def epoch(self, loader, number):
        loader.batch_sampler.set_epoch(number)
        stats = torch.zeros(2)
        for source, target in loader:
            stats += torch.tensor([self.update(source, target), 1.0])
        dist.barrier()
        log.info("epoch %d: %d updates, loss %.3f", number, self.updates, stats[0] / stats[1])
