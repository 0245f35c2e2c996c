import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import Dataset


class TinyLM(nn.Module):
    def __init__(self, vocab, dim=48, heads=4, layers=2, max_len=40):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_len, dim)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        n = ids.size(1)
        x = self.emb(ids) + self.pos(torch.arange(n))
        mask = torch.full((n, n), float("-inf")).triu(1)
        for b in self.blocks:
            x = b(x, src_mask=mask)
        return self.head(self.norm(x))


class Chats(Dataset):
    """Prompt: digits and an operation; answer: the digits sorted, reversed or doubled up."""

    SORT, REV, TWICE, SEP, EOS, PAD = 10, 11, 12, 13, 14, 15

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for _ in range(n):
            k = int(torch.randint(2, 10, (1,), generator=g))
            d = torch.randint(10, (k,), generator=g)
            op = int(torch.randint(3, (1,), generator=g))
            ans = [d.sort().values, d.flip(0), d.repeat_interleave(2)][op].tolist()
            prompt = [self.SORT + op] + d.tolist() + [self.SEP]
            self.rows.append((prompt, ans + [self.EOS]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    n = max(len(p) + len(a) for p, a in rows)
    ids = torch.full((len(rows), n), Chats.PAD)
    labels = torch.full((len(rows), n), -100)
    for i, (p, a) in enumerate(rows):
        ids[i, : len(p) + len(a)] = torch.tensor(p + a)
        labels[i, len(p): len(p) + len(a)] = torch.tensor(a)
    return ids[:, :-1], labels[:, 1:]


def sum_loss(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
