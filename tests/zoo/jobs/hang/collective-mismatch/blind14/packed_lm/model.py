import torch
from torch import nn


class TinyDecoder(nn.Module):
    def __init__(self, vocab, width, layers, heads, max_len):
        super().__init__()
        self.tok = nn.Embedding(vocab, width, padding_idx=0)
        self.pos = nn.Embedding(max_len, width)
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocab)

    def forward(self, x):
        n = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(n)
        h = self.tok(x) + self.pos(torch.arange(n))
        return self.head(self.blocks(h, mask=mask, is_causal=True))
