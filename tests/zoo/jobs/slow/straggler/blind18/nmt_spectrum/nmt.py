import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim=96):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        layer = nn.TransformerEncoderLayer(dim, 4, 256, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        pad = x == 0
        logits = self.out(self.enc(self.emb(x), src_key_padding_mask=pad))
        return nn.functional.cross_entropy(logits.flatten(0, 1), x.flip(1).flatten(), ignore_index=0)
