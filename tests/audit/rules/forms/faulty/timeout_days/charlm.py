import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from settings import Settings


class Windows(Dataset):
    def __init__(self, ids, length=256):
        self.ids, self.length = ids, length

    def __len__(self):
        return (len(self.ids) - 1) // self.length

    def __getitem__(self, i):
        s = i * self.length
        return self.ids[s:s + self.length], self.ids[s + 1:s + self.length + 1]


class CharLM(nn.Module):
    def __init__(self, dim, vocab=256):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, 3, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


class Session:
    def __init__(self, cfg):
        self.cfg = cfg
        self.local = int(os.environ["LOCAL_RANK"])

    def __enter__(self):
        torch.cuda.set_device(self.local)
        limit = timedelta(self.cfg.timeout_min)  # cause
        dist.init_process_group(self.cfg.backend, timeout=limit)  # cause
        return self

    def __exit__(self, *exc):
        dist.destroy_process_group()


def train(cfg, session):
    ds = Windows(torch.load(cfg.corpus, map_location="cpu").long())
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, cfg.batch, sampler=sampler, pin_memory=True)
    model = DDP(CharLM(cfg.dim).cuda(session.local), device_ids=[session.local])
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x, y = x.cuda(session.local, non_blocking=True), y.cuda(session.local, non_blocking=True)
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} bpc {loss.item() / 0.6931:.3f}", flush=True)
            torch.save(model.module.state_dict(), cfg.output)


if __name__ == "__main__":
    settings = Settings.read(sys.argv[1])
    with Session(settings) as s:
        train(settings, s)
