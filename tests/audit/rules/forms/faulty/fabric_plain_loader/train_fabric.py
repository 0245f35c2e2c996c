import argparse

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader


class CharLSTM(nn.Module):
    def __init__(self, vocab, dim=256, hidden=512):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, hidden, 2, batch_first=True, dropout=0.2)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def loss_fn(logits, y):
    return nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())


class Session:
    def __init__(self, fabric, args, corpus):
        self.fabric, self.args = fabric, args
        with fabric.init_module():
            net = CharLSTM(corpus.vocab_size)
        opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
        self.net, self.opt = fabric.setup(net, opt)
        train = DataLoader(corpus.train, args.batch, shuffle=True, drop_last=True, num_workers=2)  # cause
        val = DataLoader(corpus.val, args.batch, num_workers=2)
        self.train_loader = train  # cause
        self.val_loader = fabric.setup_dataloaders(val)

    def epoch(self, n):
        self.net.train()
        for i, (x, y) in enumerate(self.train_loader):
            x, y = x.to(self.fabric.device), y.to(self.fabric.device)
            loss = loss_fn(self.net(x), y)
            self.fabric.backward(loss)
            self.fabric.clip_gradients(self.net, self.opt, max_norm=1.0)
            self.opt.step()
            self.opt.zero_grad()
            if i % 100 == 0:
                self.fabric.print(f"{n}/{i} {loss.item():.3f}")

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        total = torch.zeros(2, device=self.fabric.device)
        for x, y in self.val_loader:
            total[0] += loss_fn(self.net(x), y) * y.numel()
            total[1] += y.numel()
        total = self.fabric.all_reduce(total, reduce_op="sum")
        return (total[0] / total[1]).item()

    def run(self):
        best = float("inf")
        for n in range(self.args.epochs):
            self.epoch(n)
            val = self.validate()
            self.fabric.print(f"epoch {n} val {val:.4f}")
            if val < best:
                best = val
                self.fabric.save("best.ckpt", {"net": self.net, "opt": self.opt, "epoch": n})


def main(corpus_factory):
    p = argparse.ArgumentParser()
    p.add_argument("--devices", type=int, default=4)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    fabric = L.Fabric(accelerator="gpu", devices=args.devices, strategy="ddp", precision="bf16-mixed")
    fabric.launch()
    fabric.seed_everything(2024)
    Session(fabric, args, corpus_factory()).run()
