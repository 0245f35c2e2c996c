import torch
from torch import nn
import torch.nn.functional as F


class DecoderLayer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.heads = args.heads
        self.qkv = nn.Linear(args.dim, 3 * args.dim, bias=False)
        self.out = nn.Linear(args.dim, args.dim, bias=False)
        self.mlp = nn.Sequential(nn.Linear(args.dim, 2 * args.dim), nn.SiLU(), nn.Linear(2 * args.dim, args.dim))

    def forward(self, x):
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, dim))
        return x + self.mlp(x)


class CausalLM(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embed_tokens = nn.Embedding(args.vocab, args.dim)
        self.layers = nn.ModuleList(DecoderLayer(args) for _ in range(args.layers))
        self.norm = nn.LayerNorm(args.dim)
        self.lm_head = nn.Linear(args.dim, args.vocab, bias=False)

    def forward(self, ids):
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))
