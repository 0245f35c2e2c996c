import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from tts.meter import MeterBoard


class Synth(nn.Module):
    def __init__(self, symbols=150, dim=256, mels=80):
        super().__init__()
        self.emb = nn.Embedding(symbols, dim)
        self.enc = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.dur = nn.Linear(2 * dim, 1)
        self.mel = nn.Linear(2 * dim, mels)

    def forward(self, text):
        h, _ = self.enc(self.emb(text))
        return self.mel(h), self.dur(h).squeeze(-1)


class Task:
    def __init__(self, data, collate, epochs=100):
        self.local = int(os.environ["LOCAL_RANK"])
        self.device = torch.device("cuda", self.local)
        torch.cuda.set_device(self.device)
        self.epochs = epochs
        self.net = DDP(Synth().to(self.device), device_ids=[self.local])
        self.opt = torch.optim.Adam(self.net.parameters(), 1e-3, betas=(0.9, 0.98))
        self.sampler = DistributedSampler(data, drop_last=True)
        self.loader = DataLoader(data, 32, sampler=self.sampler, collate_fn=collate, num_workers=3, drop_last=True)

    def losses(self, text, mel, dur):
        got_mel, got_dur = self.net(text.to(self.device))
        known = (text > 0).to(self.device)
        l_mel = (got_mel - mel.to(self.device)).abs().mean(-1)[known].mean()
        l_dur = (got_dur - dur.to(self.device).log1p()).pow(2)[known].mean()
        return l_mel, l_dur

    def fit(self):
        for epoch in range(self.epochs):
            self.sampler.set_epoch(epoch)
            board = MeterBoard(("mel", "dur"), self.device)
            for text, mel, dur in self.loader:
                l_mel, l_dur = self.losses(text, mel, dur)
                self.opt.zero_grad(set_to_none=True)
                (l_mel + 0.1 * l_dur).backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                self.opt.step()
                board.add(mel=l_mel, dur=l_dur)
            self.report(epoch, board)

    def report(self, epoch, board):
        line = board.line()
        if dist.get_rank() == 0:
            print(f"epoch {epoch:3d}  {line}", flush=True)
            torch.save(self.net.module.state_dict(), "synth.pt")


def main(data, collate):
    dist.init_process_group("nccl")
    Task(data, collate).fit()
    dist.destroy_process_group()
