import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Rows(Dataset):
    def __init__(self, path):
        self.rows = torch.load(path, map_location="cpu", weights_only=True)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.rows[at]


class Trainer:
    def __init__(self, model, loader, callbacks):
        self.model, self.loader, self.callbacks = model, loader, callbacks
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def fit(self, epochs, device):
        for epoch in range(epochs):  # cause
            for callback in self.callbacks:
                callback(self, epoch)
            for x in self.loader:
                self.opt.zero_grad(set_to_none=True)
                self.model(x.to(device)).square().mean().backward()
                self.opt.step()


def reshuffle(trainer, epoch):
    if hasattr(trainer.loader.dataset, "set_epoch"):  # cause
        trainer.loader.dataset.set_epoch(epoch)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    rows = Rows("rows.pt")
    loader = DataLoader(rows, 32, sampler=DistributedSampler(rows, drop_last=True), drop_last=True)  # cause
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    Trainer(model, loader, [reshuffle]).fit(30, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
