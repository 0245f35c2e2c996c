import argparse

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
PAD = 0


class Reviews(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        tone = torch.randint(-2, 3, (300,), generator=torch.Generator().manual_seed(77))
        self.rows = []
        for _ in range(n):
            ids = torch.randint(1, 300, (int(torch.randint(4, 25, (1,), generator=g)),), generator=g)
            self.rows.append((ids, int(tone[ids].sum() > 0)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    ids = pad_sequence([r[0] for r in rows], batch_first=True, padding_value=PAD)
    return {"input_ids": ids, "attention_mask": ids != PAD, "labels": torch.tensor([r[1] for r in rows])}


class Encoder(nn.Module):
    def __init__(self, vocab=300, dim=32, heads=4, layers=1):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(64, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.head = nn.Linear(dim, 2)

    def forward(self, input_ids, attention_mask):
        n, length = input_ids.shape
        h = self.tok(input_ids) + self.pos(torch.arange(length))
        h = torch.cat([self.cls.expand(n, -1, -1), h], 1)
        mask = torch.cat([attention_mask.new_zeros(n, 1), attention_mask], 1)
        h = self.encoder(h, src_key_padding_mask=mask)
        return self.head(h[:, 0])


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = n = 0
    for b in loader:
        hits += (model(b["input_ids"], b["attention_mask"]).argmax(1) == b["labels"]).sum().item()
        n += len(b["labels"])
    return hits / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    train = DataLoader(Reviews(2000, 0), batch_size=50, shuffle=True, collate_fn=collate)
    dev = DataLoader(Reviews(500, 1), batch_size=100, collate_fn=collate)
    model = Encoder()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for b in train:
            loss = nn.functional.cross_entropy(model(b["input_ids"], b["attention_mask"]), b["labels"])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train):.4f} dev acc {accuracy(model, dev):.3f}", flush=True)


if __name__ == "__main__":
    main()
