import torch
import torch.nn as nn
import torch.nn.functional as F

from captions.scenes import BOS, EOS, FIRST_TAG, PAD, TAGS


class Captioner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.start = nn.Sequential(nn.Linear(48, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.words = nn.Embedding(FIRST_TAG + TAGS, width)
        self.cell = nn.GRU(2 * width, width, batch_first=True)
        self.out = nn.Linear(width, FIRST_TAG + TAGS)

    def forward(self, features, caption):
        scene = self.start(features)
        words = self.words(caption[:, :-1])
        inputs = torch.cat([words, scene[:, None].expand_as(words)], dim=-1)
        hidden, _ = self.cell(inputs, scene[None].contiguous())
        logits = self.out(hidden)
        return F.cross_entropy(logits.flatten(0, 1), caption[:, 1:].flatten(), ignore_index=PAD)

    @torch.no_grad()
    def generate(self, features, limit):
        scene = self.start(features)
        state, word, result = scene[None].contiguous(), torch.full((len(features), 1), BOS), []
        for _ in range(limit):
            hidden, state = self.cell(torch.cat([self.words(word), scene[:, None]], dim=-1), state)
            word = self.out(hidden).argmax(-1)
            result.append(word)
        return torch.cat(result, dim=1)
