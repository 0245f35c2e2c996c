import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from collect import is_chief, mean_over_ranks, say


class Windows(Dataset):
    def __init__(self, series, past=96, ahead=24):
        self.series, self.past, self.ahead = series, past, ahead

    def __len__(self):
        return len(self.series) - self.past - self.ahead

    def __getitem__(self, i):
        mid = i + self.past
        return self.series[i:mid], self.series[mid : mid + self.ahead, 0]


class Forecaster(nn.Module):
    def __init__(self, features, ahead=24, width=192):
        super().__init__()
        self.rnn = nn.GRU(features, width, 2, batch_first=True)
        self.out = nn.Linear(width, ahead)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


class Trainer:
    def __init__(self, args, device):
        series = torch.load(args.series, map_location="cpu", weights_only=True).float()
        cut = int(len(series) * 0.85)
        train, val = Windows(series[:cut]), Windows(series[cut:])
        self.order = DistributedSampler(train, seed=2)
        self.train_loader = DataLoader(train, args.batch, sampler=self.order)
        self.val_loader = DataLoader(val, args.batch, sampler=DistributedSampler(val, shuffle=False))
        self.device, self.epochs = device, args.epochs
        torch.manual_seed(2)
        self.net = DistributedDataParallel(Forecaster(series.size(1)).to(device), device_ids=[device.index])
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=args.lr)
        self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, factor=0.3, patience=2)

    def one(self, batch):
        x, y = (t.to(self.device) for t in batch)
        return nn.functional.l1_loss(self.net(x), y)

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        losses = [self.one(b).item() for b in self.val_loader]
        self.net.train()
        return mean_over_ranks(sum(losses), len(losses), self.device)

    def fit(self):
        for epoch in range(self.epochs):
            self.order.set_epoch(epoch)
            for batch in self.train_loader:
                self.opt.zero_grad(set_to_none=True)
                self.one(batch).backward()
                self.opt.step()
            val = self.validate()
            self.plateau.step(val)
            say(epoch, f"{val:.4f}", self.opt.param_groups[0]["lr"])
            if is_chief():
                torch.save(self.net.module.state_dict(), "forecast.pt")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("series")
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--epochs", type=int, default=50)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    Trainer(args, device).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
