import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from callbacks import Progress, TopK


def loader_for(path, batch_size, train):
    blob = torch.load(path, map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    if train:
        return DataLoader(ds, batch_size, sampler=DistributedSampler(ds), num_workers=2, pin_memory=True)
    return DataLoader(Subset(ds, range(dist.get_rank(), len(ds), dist.get_world_size())), batch_size, num_workers=2)


class Trainer:
    def __init__(self, model, lr, device, callbacks):
        self.device = device
        self.model = DDP(model.to(device), device_ids=[device.index])
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9, nesterov=True)
        self.callbacks = callbacks

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            loader.sampler.set_epoch(epoch)
            for x, y in loader:
                x, y = x.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)
                self.opt.zero_grad(set_to_none=True)
                nn.functional.cross_entropy(self.model(x), y).backward()
                self.opt.step()
            for cb in self.callbacks:
                cb.epoch_end(self, epoch)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("train")
    ap.add_argument("test")
    ap.add_argument("--epochs", type=int, default=90)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 100))
    trainer = Trainer(net, 0.1, device, [Progress(), TopK(loader_for(args.test, 512, False))])
    trainer.fit(loader_for(args.train, 128, True), args.epochs)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
