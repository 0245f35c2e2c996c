import torch
from torch import nn


class TinyGPT(nn.Module):
    def __init__(self, vocab, width=48, layers=2, context=64):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, width), nn.Embedding(context, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        n = ids.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(n)
        h = self.body(self.tok(ids) + self.pos(torch.arange(n)), mask=mask, is_causal=True)
        return nn.functional.cross_entropy(self.head(h[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
