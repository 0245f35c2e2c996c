"""Next-token training on dialogues of very unequal length, gradients reduced by hand."""
import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

PAD, VOCAB = 0, 32


class Dialogues(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        step = torch.randint(1, 6, (n,), generator=g)
        start = torch.randint(1, VOCAB, (n,), generator=g)
        length = torch.randint(6, 40, (n,), generator=g)
        self.items = [1 + (start[i] + step[i] * torch.arange(int(length[i]))) % (VOCAB - 1) for i in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    return nn.utils.rnn.pad_sequence(items, batch_first=True, padding_value=PAD)


class Talker(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


def reduce_mean(model, world):
    for p in model.parameters():
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        dist.all_reduce(p.grad)
        p.grad /= world


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--patience", type=int, default=2)
    p.add_argument("--lr", type=float, default=4e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = Talker()
    data, dev = Dialogues(1001, 1), Dialogues(200, 2)
    optimizer = torch.optim.Adam(model.parameters(), args.lr)
    best, bad = float("inf"), 0
    for epoch in range(args.epochs):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(epoch)).tolist()
        loader = iter(DataLoader(Subset(data, order[rank::world]), args.batch_size, collate_fn=collate))
        steps = -(-len(order[0::world]) // args.batch_size)
        shown = 0.0
        model.train()
        for _ in range(steps):
            ids = next(loader, torch.zeros(0, 2, dtype=torch.long))
            optimizer.zero_grad()
            target = ids[:, 1:]
            counts = (target != PAD).sum().float()
            local = torch.zeros(())
            if len(ids):
                logits = model(ids[:, :-1])
                local = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=PAD, reduction="sum")
            totals = torch.stack([local.detach(), counts])
            dist.all_reduce(totals)
            if local.requires_grad:
                (local * world / totals[1]).backward()
            reduce_mean(model, world)
            optimizer.step()
            shown += (totals[0] / totals[1]).item()
        model.eval()
        with torch.no_grad():
            sums = torch.zeros(2)
            for ids in DataLoader(Subset(dev, range(rank, len(dev), world)), 50, collate_fn=collate):
                t = ids[:, 1:]
                sums[0] += F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), t, ignore_index=PAD, reduction="sum")
                sums[1] += (t != PAD).sum()
        dist.all_reduce(sums)
        value = (sums[0] / sums[1]).item()
        if rank == 0:
            print(f"epoch {epoch} loss {shown / steps:.4f} dev {value:.4f}", flush=True)
        bad = 0 if value < best - 2e-3 else bad + 1
        best = min(best, value)
        stop = torch.tensor(int(bad >= args.patience))
        dist.broadcast(stop, 0)
        if stop:
            break
        if rank == 0:
            torch.save(model.state_dict(), "talker.pt")
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
