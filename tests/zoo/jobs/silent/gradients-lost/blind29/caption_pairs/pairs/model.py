import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class DualEncoder(nn.Module):
    def __init__(self, embed_dim, vocab=96):
        super().__init__()
        self.visual = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.GELU(), nn.Conv2d(16, 32, 3, 2, 1), nn.GELU(),
                                    nn.Flatten(), nn.Linear(32 * 9, embed_dim))
        self.words = nn.Embedding(vocab, 48, padding_idx=0)
        self.text = nn.Sequential(nn.LayerNorm(48), nn.Linear(48, 64), nn.GELU(), nn.Linear(64, embed_dim))
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def encode_image(self, image):
        return F.normalize(self.visual(image), dim=-1)

    def encode_text(self, tokens):
        return F.normalize(self.text(self.words(tokens).mean(1)), dim=-1)

    def forward(self, image, tokens):
        return self.encode_image(image), self.encode_text(tokens), self.logit_scale.exp().clamp(max=100)
