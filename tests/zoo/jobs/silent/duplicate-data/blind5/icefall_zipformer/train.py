import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from asr_datamodule import AsrDataModule


class Encoder(nn.Module):
    def __init__(self, dim=32, vocab=10):
        super().__init__()
        self.subsample = nn.Conv1d(12, dim, 3, stride=2, padding=1)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.norm = nn.LayerNorm(dim)
        self.output = nn.Linear(dim, vocab)

    def forward(self, feats, lens):
        x = torch.relu(self.subsample(feats.transpose(1, 2)))
        x = (x + self.conv(x)).transpose(1, 2)
        keep = (torch.arange(x.size(1)) < ((lens + 1) // 2).unsqueeze(1)).unsqueeze(-1)
        pooled = (x * keep).sum(1) / keep.sum(1)
        return self.output(self.norm(pooled))


class Eden:
    def __init__(self, optimizer, lr_batches=20, lr_epochs=2):
        self.optimizer, self.lr_batches, self.lr_epochs = optimizer, lr_batches, lr_epochs
        self.base, self.batch, self.epoch = optimizer.param_groups[0]["lr"], 0, 0

    def step(self, epoch):
        self.batch, self.epoch = self.batch + 1, epoch
        factor = ((self.batch / self.lr_batches) ** 2 + 1) ** -0.25 * ((epoch / self.lr_epochs) ** 2 + 1) ** -0.25
        for group in self.optimizer.param_groups:
            group["lr"] = self.base * factor


def setup_dist(rank, world_size, master_port):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = str(master_port)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def run(rank, world_size, args):
    torch.set_num_threads(1)
    torch.manual_seed(42)
    datamodule = AsrDataModule()
    train_dl = datamodule.train_dataloaders()
    if world_size > 1:
        setup_dist(rank, world_size, args.master_port)
    model = Encoder()
    if world_size > 1:
        model = DDP(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.base_lr)
    scheduler = Eden(optimizer)
    criterion = nn.CrossEntropyLoss()

    done = 0
    for epoch in range(1, args.num_epochs + 1):
        datamodule.train_sampler.set_epoch(epoch - 1)
        for batch_idx, (feats, lens, phones) in enumerate(train_dl):
            if done == args.max_batches:
                break
            loss = criterion(model(feats, lens), phones)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step(epoch)
            done += 1
            if batch_idx % 10 == 0 and rank == 0:
                print(f"Epoch {epoch}, batch {batch_idx}, loss {loss.item():.4f}", flush=True)
    if world_size > 1:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--world-size", type=int, default=3)
    parser.add_argument("--master-port", type=int, default=29611)
    parser.add_argument("--num-epochs", type=int, default=3)
    parser.add_argument("--max-batches", type=int, default=45)
    parser.add_argument("--base-lr", type=float, default=8e-3)
    args = parser.parse_args()
    if args.world_size > 1:
        mp.spawn(run, args=(args.world_size, args), nprocs=args.world_size, join=True)
    else:
        run(0, 1, args)
