import torch
from torch import nn

from .losses import causal_lm_loss


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class CaptionModel(nn.Module):
    """Image patches as a prefix, then the caption, in one decoder."""

    def __init__(self, vocab_size, dim=48, heads=4, layers=2, image=8, patch=4, max_len=24):
        super().__init__()
        self.vocab_size = vocab_size
        self.num_image_tokens = (image // patch) ** 2
        self.patch = nn.Conv2d(3, dim, patch, patch)
        self.tok = nn.Embedding(vocab_size, dim)
        self.pos = nn.Parameter(torch.randn(1, self.num_image_tokens + max_len, dim) * 0.02)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab_size, bias=False)

    def _mask(self, n, device):
        k = self.num_image_tokens
        m = torch.full((n, n), float("-inf"), device=device).triu(1)
        m[:, :k] = 0.0
        m[:k, k:] = float("-inf")
        return m

    def forward(self, pixels, input_ids, labels=None):
        img = self.patch(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([img, self.tok(input_ids)], 1)
        x = x + self.pos[:, : x.size(1)]
        mask = self._mask(x.size(1), x.device)
        for b in self.blocks:
            x = b(x, mask)
        logits = self.head(self.norm(x))
        loss = None
        if labels is not None:
            k = self.num_image_tokens
            text_logits = logits[:, k:-1, :].contiguous()
            labels = labels[:, 1:].contiguous()
            loss = causal_lm_loss(text_logits.view(-1, self.vocab_size), labels.view(-1), self.vocab_size)
        return loss, logits

    @torch.no_grad()
    def generate(self, pixels, bos, steps):
        ids = torch.full((pixels.size(0), 1), bos, dtype=torch.long)
        for _ in range(steps):
            _, logits = self(pixels, ids)
            ids = torch.cat([ids, logits[:, -1].argmax(-1, keepdim=True)], 1)
        return ids
