import torch
from torch import nn


class TinyGPT(nn.Module):
    def __init__(self, vocab=50304, dim=512, depth=8, heads=8, ctx=2048):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(ctx, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth)
        self.out = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        n = ids.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(n, device=ids.device)
        h = self.tok(ids) + self.pos(torch.arange(n, device=ids.device))
        return self.out(self.blocks(h, mask=mask, is_causal=True))
