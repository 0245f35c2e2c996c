import torch
import torch.nn as nn


class LayerDrop(nn.Module):
    def __init__(self, dim, depth, p, seed):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, 8, 4 * dim, batch_first=True, norm_first=True) for _ in range(depth))
        self.p = p
        self.coin = torch.Generator().manual_seed(seed)

    def forward(self, x, mask):
        for layer in self.layers:
            if self.training and torch.rand((), generator=self.coin).item() < self.p:
                continue
            x = layer(x, src_mask=mask, is_causal=True)
        return x


class LM(nn.Module):
    def __init__(self, vocab=8000, dim=384, depth=12, length=512, p=0.2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.position = nn.Embedding(length, dim)
        self.body = LayerDrop(dim, depth, p, seed=2024)
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        n = x.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(n, device=x.device)
        return self.out(self.body(self.embed(x) + self.position.weight[:n], mask))
