import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Fusion(nn.Module):
    def __init__(self, words=30, answers=8, feat=24, hidden=128, p=0.5):
        super().__init__()
        self.embed = nn.Embedding(words, hidden)
        self.q_enc = nn.GRU(hidden, hidden, batch_first=True)
        self.v_enc = nn.Sequential(nn.Linear(feat, hidden), nn.ReLU(), nn.Dropout(p))
        self.classifier = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p), nn.Linear(hidden, answers))

    def forward(self, question, visual):
        _, h = self.q_enc(self.embed(question))
        return self.classifier(h[-1] * self.v_enc(visual))


class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def update(self, value, k=1):
        self.sum += value * k
        self.n += k

    @property
    def avg(self):
        t = torch.tensor([self.sum, float(self.n)], dtype=torch.float64)
        dist.all_reduce(t)
        return (t[0] / t[1]).item()


class Trainer:
    def __init__(self, opt, train_loader, val_loader):
        self.opt, self.train_loader, self.val_loader = opt, train_loader, val_loader
        self.model = DDP(Fusion(hidden=opt.hidden, p=opt.dropout))
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=opt.lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, opt.epochs // 2, 0.3)
        self.iters, self.best = 0, 0.0
        self.rank = dist.get_rank()

    def log(self, text):
        if self.rank == 0:
            print(time.strftime("%H:%M:%S"), text, flush=True)

    def forward_batch(self, batch):
        logits = self.model(batch["question"], batch["visual"])
        return logits, self.criterion(logits, batch["answer"])

    def validate(self):
        self.model.eval()
        loss_m, acc_m = Meter(), Meter()
        with torch.no_grad():
            for batch in self.val_loader:
                logits, loss = self.forward_batch(batch)
                k = len(batch["answer"])
                loss_m.update(loss.item(), k)
                acc_m.update((logits.argmax(1) == batch["answer"]).float().mean().item(), k)
        acc, loss = acc_m.avg, loss_m.avg
        self.log(f"  [val @ {self.iters}] loss {loss:.3f} acc {acc:.3f}")
        if acc > self.best:
            self.best = acc
            if self.rank == 0:
                torch.save({"model": self.model.module.state_dict(), "iters": self.iters}, "model_best.pth.tar")
        return acc

    def train_epoch(self, epoch):
        self.model.train()
        self.train_loader.sampler.set_epoch(epoch)
        meter = Meter()
        for batch in self.train_loader:
            _, loss = self.forward_batch(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            meter.update(loss.item(), len(batch["answer"]))
            self.iters += 1
            if self.iters % self.opt.val_step == 0:
                self.validate()
        self.log(f"epoch {epoch} train loss {meter.avg:.3f} lr {self.scheduler.get_last_lr()[0]:.2g}")
        self.scheduler.step()

    def fit(self):
        for epoch in range(self.opt.epochs):
            self.train_epoch(epoch)
        self.log(f"best val accuracy {self.best:.3f}")
