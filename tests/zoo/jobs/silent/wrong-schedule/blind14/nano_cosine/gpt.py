import torch
from torch import nn


class GPT(nn.Module):
    def __init__(self, vocab, block, width=64, layers=2, heads=4):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(block, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, batch_first=True, norm_first=True)
        self.h = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(block))

    def forward(self, idx):
        n = idx.shape[1]
        x = self.wte(idx) + self.wpe(torch.arange(n))
        return self.lm_head(self.h(x, mask=self.mask[:n, :n], is_causal=True))


def token_stream(n, vocab, seed=0):
    g = torch.Generator().manual_seed(seed)
    steps = torch.multinomial(torch.tensor([0.6, 0.25, 0.1, 0.05]), n, replacement=True, generator=g)
    return (steps * 5 + 1).cumsum(0) % vocab
