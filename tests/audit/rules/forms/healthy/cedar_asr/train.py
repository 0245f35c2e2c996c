import argparse
import json
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from data import make_loader


class Acoustic(nn.Module):
    def __init__(self, mels=80, width=256, vocab=500):
        super().__init__()
        self.proj = nn.Linear(mels, width)
        self.rnn = nn.LSTM(width, width, num_layers=3, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, x):
        h, _ = self.rnn(self.proj(x))
        return self.out(h).log_softmax(-1)


class Trainer:
    def __init__(self, args, device):
        self.args, self.device = args, device
        self.model = DDP(Acoustic().to(device), device_ids=[device.index])
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.ctc = nn.CTCLoss(zero_infinity=True)
        with open(args.manifest) as f:
            self.loader = make_loader([json.loads(x) for x in f], args.max_frames, args.workers)

    def start_epoch(self, epoch):
        self.model.train()
        self.loader.batch_sampler.inner.set_epoch(epoch)

    def fit(self):
        for epoch in range(self.args.epochs):
            self.start_epoch(epoch)
            for x, xl, y, yl in self.loader:
                x, y = x.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)
                loss = self.ctc(self.model(x).transpose(0, 1), y, xl, yl)
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.opt.step()
            if dist.get_rank() == 0:
                torch.save({"model": self.model.module.state_dict(), "epoch": epoch}, self.args.out)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--manifest", required=True)
    p.add_argument("--out", default="cedar.pt")
    p.add_argument("--lr", type=float, default=3e-4)
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--max-frames", type=int, default=40000)
    p.add_argument("--workers", type=int, default=4)
    args = p.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    Trainer(args, device).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
