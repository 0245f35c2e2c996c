import torch
import torch.nn as nn

from .data import PAD


class CaptionModel(nn.Module):
    def __init__(self, vocab_size, feature_dim=32, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.bridge = nn.Linear(feature_dim, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab_size)

    def forward(self, image, tokens):
        h0 = torch.tanh(self.bridge(image)).unsqueeze(0)
        y, _ = self.rnn(self.embed(tokens), h0)
        return self.out(y)
