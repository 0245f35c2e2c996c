import argparse
import logging

import torch
from torch import nn
from torch.utils.data import DataLoader

from audio import LETTERS, SpelledTones, TextCodec, collate

logger = logging.getLogger("ctc")


class Recognizer(nn.Module):
    def __init__(self, bands, hidden, classes):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(bands, hidden, 3, padding=1), nn.ReLU())
        self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, classes)

    def forward(self, spec):
        h = self.conv(spec.transpose(1, 2)).transpose(1, 2)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]


class Experiment:
    def __init__(self, args):
        self.args = args
        self.codec = TextCodec(LETTERS)
        self.train_loader = DataLoader(SpelledTones(args.train, self.codec, seed=1), args.batch_size,
                                       shuffle=True, collate_fn=collate)
        self.test_loader = DataLoader(SpelledTones(64, self.codec, seed=2), 64, collate_fn=collate)
        self.model = Recognizer(16, args.hidden, len(LETTERS) + 1)
        self.criterion = nn.CTCLoss(blank=0, zero_infinity=True)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for spec, frames, target, lengths, _ in self.train_loader:
            logp = self.model(spec).transpose(0, 1)
            loss = self.criterion(logp, target, frames, lengths)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def error_rate(self):
        self.model.eval()
        wrong = letters = 0
        for spec, frames, _, _, texts in self.test_loader:
            best = self.model(spec).argmax(-1)
            for row, n, text in zip(best, frames.tolist(), texts):
                wrong += edit_distance(self.codec.greedy(row[:n]), text)
                letters += len(text)
        return wrong / letters

    def run(self):
        for epoch in range(self.args.epochs):
            loss = self.train_epoch()
            logger.info("epoch %d ctc %.4f letter error rate %.3f", epoch, loss, self.error_rate())
        torch.save({"model": self.model.state_dict(), "alphabet": LETTERS}, self.args.out)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--train", type=int, default=512)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--out", default="recognizer.pt")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(0)
    Experiment(p.parse_args()).run()
