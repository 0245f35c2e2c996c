import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from tokens import PackedTokens


class ByteLm(nn.Module):
    def __init__(self, width=768, layers=2):
        super().__init__()
        self.embed = nn.Embedding(256, width)
        self.rnn = nn.GRU(width, width, layers, batch_first=True)
        self.out = nn.Linear(width, 256)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


class LmTrainer:
    def __init__(self, args):
        self.args = args
        local = int(os.environ["LOCAL_RANK"])
        self.device = torch.device("cuda", local)
        torch.cuda.set_device(self.device)
        data = PackedTokens(args.text, args.block)
        self.sampler = DistributedSampler(data, drop_last=True)
        self.loader = DataLoader(data, args.batch_size, sampler=self.sampler, num_workers=2, drop_last=True)
        self.model = DDP(ByteLm().to(self.device), device_ids=[local])
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)

    def fit(self):
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            for x, y in self.loader:
                logits = self.model(x.to(self.device, non_blocking=True))
                loss = F.cross_entropy(logits.flatten(0, 1), y.to(self.device).flatten())
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
            if dist.get_rank() == 0:
                print(epoch, loss.item())


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("text")
    ap.add_argument("--block", type=int, default=512)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=1e-3)
    dist.init_process_group("nccl")
    LmTrainer(ap.parse_args()).fit()
    dist.destroy_process_group()
