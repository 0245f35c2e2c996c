import argparse
import math

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)


def sequences(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    start = torch.randint(0, 40, (n, 1), generator=g)
    step = torch.randint(1, 6, (n, 1), generator=g)
    x = (start + step * torch.arange(13)) % 40
    noisy = torch.where(torch.rand(n, 13, generator=g) < 0.1, torch.randint(0, 40, (n, 13), generator=g), x)
    return TensorDataset(noisy[:, :-1], x[:, 1:])


class TinyLM(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(40, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, 40)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def get_cosine_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def factor(step):
        if step < num_warmup_steps:
            return step / max(1, num_warmup_steps)
        done = (step - num_warmup_steps) / max(1, num_training_steps - num_warmup_steps)
        return max(0.0, 0.5 * (1 + math.cos(math.pi * done)))
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--per-device-batch-size", type=int, default=20)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--warmup-ratio", type=float, default=0.05)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    data = sequences(2400)
    steps_per_epoch = math.ceil(len(data) / args.per_device_batch_size)
    max_train_steps = args.epochs * steps_per_epoch
    model = DDP(TinyLM())
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    lr_scheduler = get_cosine_schedule_with_warmup(optimizer, int(args.warmup_ratio * max_train_steps), max_train_steps)
    sampler = DistributedSampler(data, shuffle=True, seed=1)
    loader = DataLoader(data, args.per_device_batch_size, sampler=sampler)
    if rank == 0:
        print("***** Running training *****", flush=True)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        total = 0.0
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x).transpose(1, 2), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
            total += loss.item()
        if rank == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f} lr {lr_scheduler.get_last_lr()[0]:.2e}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
