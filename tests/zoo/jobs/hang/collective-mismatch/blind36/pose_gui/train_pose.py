import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from callbacks import ProgressReporter, TrainingController

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("pose")


class ConfmapNet(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, parts, 3, padding=1))

    def forward(self, x):
        return self.body(x)


def make_data(n, parts, size=16, seed=0):
    g = torch.Generator().manual_seed(seed)
    images = torch.randn(n, 1, size, size, generator=g)
    kernel = torch.randn(parts, 1, 3, 3, generator=torch.Generator().manual_seed(42)) / 3
    return TensorDataset(images, torch.conv2d(images, kernel, padding=1))


class Trainer:
    def __init__(self, args, model, callbacks):
        self.args = args
        self.model = model
        self.callbacks = callbacks
        self.rank = dist.get_rank()
        self.is_global_zero = self.rank == 0
        self.should_stop = False
        self.pending_lr = None
        self.global_step = 0
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    def call(self, hook, *values):
        for callback in self.callbacks:
            getattr(callback, hook)(self, *values)

    def training_step(self, batch):
        images, maps = batch
        loss = nn.functional.mse_loss(self.model(images), maps)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.global_step += 1
        return loss.item()

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        total = torch.zeros(2, dtype=torch.float64)
        for images, maps in loader:
            total[0] += nn.functional.mse_loss(self.model.module(images), maps).item() * len(images)
            total[1] += len(images)
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, total.tolist())
        self.model.train()
        return sum(p[0] for p in parts) / sum(p[1] for p in parts)

    def fit(self, train_loader, val_loader):
        self.call("on_fit_start")
        for epoch in range(self.args.epochs):
            train_loader.sampler.set_epoch(epoch)
            for batch_idx, batch in enumerate(train_loader):
                loss = self.training_step(batch)
                self.call("on_train_batch_end", batch_idx, loss)
                if self.should_stop:
                    break
            metrics = {"val_loss": self.validate(val_loader)}
            self.call("on_epoch_end", metrics)
            if self.is_global_zero:
                log.info("epoch %d step %d val %.4f", epoch, self.global_step, metrics["val_loss"])
            if self.should_stop:
                break
        self.call("on_fit_end")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--control-port", type=int, default=29761)
    parser.add_argument("--report-port", type=int, default=29762)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train, val = make_data(192, 4, seed=1), make_data(48, 4, seed=2)
    train_loader = DataLoader(train, args.batch_size, sampler=DistributedSampler(train))
    val_loader = DataLoader(val, args.batch_size, sampler=DistributedSampler(val, shuffle=False))
    model = DistributedDataParallel(ConfmapNet(4))
    callbacks = [ProgressReporter(args.report_port), TrainingController(args.control_port)]
    Trainer(args, model, callbacks).fit(train_loader, val_loader)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
