import torch
from torch import nn


class NoValidAnchors(ValueError):
    pass


class DraftModel(nn.Module):
    def __init__(self, vocab=64, width=24, block=4):
        super().__init__()
        self.block = block
        self.embed = nn.Embedding(vocab, width)
        self.mix = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens, lengths):
        anchors = [(i, int(n) - self.block) for i, n in enumerate(lengths) if int(n) > self.block]
        if not anchors:
            raise NoValidAnchors(f"no sample is longer than {self.block}")
        hidden, _ = self.mix(self.embed(tokens))
        losses = []
        for row, start in anchors:
            logits = self.head(hidden[row, start:start + self.block - 1])
            losses.append(nn.functional.cross_entropy(logits, tokens[row, start + 1:start + self.block]))
        return torch.stack(losses).mean()
