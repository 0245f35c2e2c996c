import argparse
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
V = 25


def sentences(n, seed):
    """A word-by-word 'translation' that depends on the word before."""
    g = torch.Generator().manual_seed(seed)
    perm = torch.stack([torch.randperm(V, generator=torch.Generator().manual_seed(s)) for s in range(2)])
    src = torch.randint(0, V, (n, 10), generator=g)
    before = torch.cat([torch.zeros(n, 1, dtype=torch.long), src[:, :-1]], 1)
    return TensorDataset(src, perm[before % 2, src])


class Tagger(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(V, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, V)

    def forward(self, src):
        return self.out(self.rnn(self.emb(src))[0])


def micro_groups(loader, k):
    """Lists of up to k micro-batches; the last group of an epoch may be shorter."""
    group = []
    for batch in loader:
        group.append(batch)
        if len(group) == k:
            yield group
            group = []
    if group:
        yield group


def train_step(model, group, opt, clip):
    total = 0.0
    for i, (src, dst) in enumerate(group):
        last = i == len(group) - 1
        with nullcontext() if last else model.no_sync():
            loss = nn.functional.cross_entropy(model(src).transpose(1, 2), dst) / len(group)
            loss.backward()
        total += loss.item()
    norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
    opt.step()
    opt.zero_grad(set_to_none=True)
    return total, norm.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--micro", type=int, default=16)
    ap.add_argument("--accumulate", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--clip", type=float, default=1.0)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = sentences(2000, 0)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, args.micro, sampler=sampler)
    model = DDP(Tagger())
    opt = torch.optim.AdamW(model.parameters(), lr=6e-3)
    steps = -(-len(loader) // args.accumulate)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, epochs=args.epochs, steps_per_epoch=steps)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        losses = []
        for group in micro_groups(loader, args.accumulate):
            loss, norm = train_step(model, group, opt, args.clip)
            sched.step()
            losses.append(loss)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} norm {norm:.3f} lr {sched.get_last_lr()[0]:.1e}",
                  flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
