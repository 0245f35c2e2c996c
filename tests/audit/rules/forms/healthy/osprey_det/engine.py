import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from hooks import Clock, ScoreBoard


class Trainer:
    def __init__(self, net, train_set, val_set, device, hooks, epochs=20):
        self.device, self.hooks, self.epochs, self.epoch = device, hooks, epochs, 0
        self.net = DistributedDataParallel(net.to(device), device_ids=[device.index])
        self.order = DistributedSampler(train_set)
        self.train_loader = DataLoader(train_set, 32, sampler=self.order)
        self.val_loader = DataLoader(val_set, 64, sampler=DistributedSampler(val_set, shuffle=False))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.02, momentum=0.9)

    def call(self, name):
        for h in self.hooks:
            getattr(h, name)(self)

    def _loss(self, batch):
        img, box = (t.to(self.device) for t in batch)
        return F.smooth_l1_loss(self.net(img), box)

    @torch.no_grad()
    def evaluate(self):
        self.net.eval()
        acc = torch.zeros(2, device=self.device)
        for batch in self.val_loader:
            acc += torch.stack([self._loss(batch), torch.ones((), device=self.device)])
        dist.all_reduce(acc)
        self.net.train()
        return (acc[0] / acc[1]).item()

    def fit(self):
        for self.epoch in range(self.epochs):
            self.order.set_epoch(self.epoch)
            self.call("on_epoch_begin")
            for batch in self.train_loader:
                self.opt.zero_grad(set_to_none=True)
                self._loss(batch).backward()
                self.opt.step()
            self.call("on_epoch_end")


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(0)
    data = torch.load("boxes.pt", map_location="cpu", weights_only=True)
    cut = int(0.9 * len(data["img"]))
    train = TensorDataset(data["img"][:cut], data["box"][:cut])
    val = TensorDataset(data["img"][cut:], data["box"][cut:])
    net = nn.Sequential(nn.Conv2d(3, 32, 5, 4), nn.ReLU(), nn.Conv2d(32, 64, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 4))
    Trainer(net, train, val, device, [Clock(), ScoreBoard("scores.jsonl")]).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
