import random

import torch
import torch.nn as nn
from torch.utils.data import Dataset

LETTERS = "abcdefghijklmnopqrstuvwxyz "
PAD, BOS, EOS = 0, 1, 2
STOI = {c: i + 3 for i, c in enumerate(LETTERS)}
ITOS = {i: c for c, i in STOI.items()}


def decode(ids):
    out = []
    for i in ids:
        if i == EOS:
            break
        if i > 2:
            out.append(ITOS[i])
    return "".join(out)


class CipherPairs(Dataset):
    """The target is the source under a fixed substitution."""

    def __init__(self, size, seed, length=12):
        rng = random.Random(seed)
        table = list(LETTERS)
        random.Random(0).shuffle(table)
        self.map = dict(zip(LETTERS, table))
        self.src = ["".join(rng.choice(LETTERS) for _ in range(length)) for _ in range(size)]

    def __len__(self):
        return len(self.src)

    def reference(self, i):
        return "".join(self.map[c] for c in self.src[i])

    def __getitem__(self, i):
        s = [STOI[c] for c in self.src[i]]
        t = [STOI[c] for c in self.reference(i)]
        return torch.tensor(s), torch.tensor([BOS] + t), torch.tensor(t + [EOS])


class Seq2Seq(nn.Module):
    def __init__(self, dim=48, vocab=len(LETTERS) + 3):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.enc = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * dim, dim)
        self.dec = nn.GRU(dim + dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def encode(self, src):
        return self.bridge(self.enc(self.emb(src))[0])

    def forward(self, src, tgt_in):
        mem = self.encode(src)
        pad = mem[:, -1:].expand(-1, tgt_in.shape[1] - mem.shape[1], -1)
        h, _ = self.dec(torch.cat([self.emb(tgt_in), torch.cat([mem, pad], 1)], -1))
        return self.out(h)

    @torch.no_grad()
    def translate(self, src):
        mem = self.encode(src)
        tok = torch.full((len(src), 1), BOS)
        state, ids = None, []
        for t in range(mem.shape[1]):
            h, state = self.dec(torch.cat([self.emb(tok), mem[:, t : t + 1]], -1), state)
            tok = self.out(h).argmax(-1)
            ids.append(tok)
        return torch.cat(ids, 1)
