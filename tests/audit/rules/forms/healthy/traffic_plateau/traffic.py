import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from tuner import Tuner


class Windows(Dataset):
    def __init__(self, series, past=48, ahead=6):
        self.series, self.past, self.ahead = series, past, ahead

    def __len__(self):
        return len(self.series) - self.past - self.ahead

    def __getitem__(self, i):
        mid = i + self.past
        return self.series[i:mid], self.series[mid:mid + self.ahead]


class Forecaster(nn.Module):
    def __init__(self, sensors, ahead=6, dim=128):
        super().__init__()
        self.rnn = nn.GRU(sensors, dim, batch_first=True)
        self.out = nn.Linear(dim, sensors * ahead)
        self.shape = (ahead, sensors)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).unflatten(-1, self.shape)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("series")
    ap.add_argument("--epochs", type=int, default=60)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    data = Windows(torch.load(args.series, map_location="cpu"))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 256, sampler=sampler, num_workers=2, drop_last=True)
    net = DistributedDataParallel(Forecaster(data.series.shape[1]).to(local), device_ids=[local])
    opt = torch.optim.Adam(net.parameters(), 2e-3)
    tuner = Tuner(opt)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        losses = []
        for past, ahead in loader:
            loss = nn.functional.l1_loss(net(past.to(local)), ahead.to(local))
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.detach())
        tuner.end_epoch(epoch, losses)
    if dist.get_rank() == 0:
        torch.save({"net": net.module.state_dict(), "log": tuner.log}, "traffic.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
