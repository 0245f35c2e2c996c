import math

import torch
from torch import nn


class DualEncoder(nn.Module):
    def __init__(self, vocab=49408, dim=512, patch=16):
        super().__init__()
        block = nn.TransformerEncoderLayer(dim, 8, 4 * dim, batch_first=True, norm_first=True)
        self.patch = nn.Conv2d(3, dim, patch, patch)
        self.vision = nn.TransformerEncoder(block, 6)
        self.tok = nn.Embedding(vocab, dim)
        self.text = nn.TransformerEncoder(block, 6)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, image, ids):
        v = self.vision(self.patch(image).flatten(2).transpose(1, 2)).mean(1)
        t = self.text(self.tok(ids)).mean(1)
        return v, t, self.logit_scale.exp()
