import argparse
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
VOCAB = 60


def corpus(n, length, seed):
    g = torch.Generator().manual_seed(seed)
    table = torch.rand(VOCAB, VOCAB, generator=torch.Generator().manual_seed(1)).pow(12)
    seq = torch.randint(0, VOCAB, (n, 1), generator=g)
    for _ in range(length):
        seq = torch.cat([seq, torch.multinomial(table[seq[:, -1]], 1, generator=g)], 1)
    return TensorDataset(seq[:, :-1], seq[:, 1:])


class GRULM(nn.Module):
    def __init__(self, dim=32, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, x):
        return self.out(self.gru(self.emb(x))[0])


class Trainer:
    def __init__(self, args):
        self.args = args
        self.train_loader = DataLoader(corpus(1200, 20, 3), args.batch_size, shuffle=True)
        self.valid_loader = DataLoader(corpus(300, 20, 4), 100)
        self.model = GRULM()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.5)
        self.lr_scheduler = torch.optim.lr_scheduler.LinearLR(
            self.optimizer, 1.0, 0.1, total_iters=args.epochs * len(self.train_loader))

    def loss(self, x, y):
        return nn.functional.cross_entropy(self.model(x).transpose(1, 2), y)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            loss = self.loss(x, y)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
            self.optimizer.step()
            self.lr_scheduler.step()
            total += loss.item()
        self.optimizer.zero_grad()
        return total / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        return sum(self.loss(x, y).item() for x, y in self.valid_loader) / len(self.valid_loader)

    def run(self):
        for epoch in range(self.args.epochs):
            train, valid = self.train_epoch(), self.validate()
            print(f"epoch {epoch} train ppl {math.exp(train):.2f} valid ppl {math.exp(valid):.2f}", flush=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch-size", type=int, default=24)
    ap.add_argument("--lr", type=float, default=1.0)
    ap.add_argument("--clip", type=float, default=1.0)
    torch.manual_seed(0)
    Trainer(ap.parse_args()).run()
