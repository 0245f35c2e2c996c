import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from evaluation import validate
from model import MatchNet
from vse import VSE


def signals(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 5, (n,), generator=g)
    t = torch.linspace(0, 6.28, 32)
    x = torch.stack([torch.sin(t * (1 + y[:, None])), torch.cos(t * (1 + y[:, None]))], 1)
    return TensorDataset(3.0 + 4.0 * (x + 1.5 * torch.randn(x.shape, generator=g)), y)


def train_epoch(opt, vse, train_loader, val_loader, epoch, rank):
    vse.train_start()
    for i, (x, y) in enumerate(train_loader):
        loss = vse.train_emb(x, y)
        if vse.iterations % opt.log_step == 0 and rank == 0:
            print(f"epoch {epoch} [{i}/{len(train_loader)}] loss {loss:.4f}", flush=True)
        if vse.iterations % opt.val_step == 0:
            accuracy = validate(vse, val_loader)
            if rank == 0:
                print(f"  iteration {vse.iterations} val {accuracy:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--val_step", type=int, default=6)
    parser.add_argument("--log_step", type=int, default=12)
    opt = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    vse = VSE(DistributedDataParallel(MatchNet()), lr=2e-3)
    train_set, val_set = signals(1024, 0), signals(128, 1)
    sampler = DistributedSampler(train_set, shuffle=True)
    train_loader = DataLoader(train_set, batch_size=16, sampler=sampler)
    val_loader = DataLoader(val_set, batch_size=32, sampler=DistributedSampler(val_set, shuffle=False))
    for epoch in range(opt.epochs):
        sampler.set_epoch(epoch)
        train_epoch(opt, vse, train_loader, val_loader, epoch, rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
