import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q_proj, self.k_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.v_proj, self.o_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.fc_in, self.fc_out = nn.Linear(dim, 3 * dim), nn.Linear(3 * dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        h = self.ln_1(x)
        q, k, v = (p(h).view(b, t, self.heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        x = x + self.o_proj(y)
        return x + self.fc_out(F.gelu(self.fc_in(self.ln_2(x))))


class CausalLM(nn.Module):
    def __init__(self, vocab=40, dim=48, depth=2, heads=4, max_len=32):
        super().__init__()
        self.embed, self.position = nn.Embedding(vocab, dim), nn.Embedding(max_len, dim)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(depth))
        self.ln_f = nn.LayerNorm(dim)
        self.style = nn.Embedding(4, dim)

    def forward(self, ids, style):
        x = self.embed(ids) + self.position(torch.arange(ids.shape[1])) + self.style(style)[:, None]
        for layer in self.layers:
            x = layer(x)
        return self.ln_f(x) @ self.embed.weight.t()


def lm_loss(model, batch):
    logits = model(batch["ids"][:, :-1], batch["style"])
    return F.cross_entropy(logits.flatten(0, 1), batch["ids"][:, 1:].flatten())


def corpus(kind, n, seed, vocab=40, length=24):
    """Sequences from a table of transitions of its own for each kind of text."""
    rule = torch.Generator().manual_seed({"general": 1, "formal": 2, "chat": 3}[kind])
    table = torch.randint(0, vocab, (vocab, 2), generator=rule)
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, vocab, (n, length + 1), generator=g)
    pick = torch.randint(0, 2, (n, length + 1), generator=g)
    for t in range(length):
        ids[:, t + 1] = table[ids[:, t], pick[:, t]]
    style = torch.full((n,), {"general": 0, "formal": 1, "chat": 2}[kind])
    return [{"ids": a, "style": b} for a, b in zip(ids, style)]
