"""Sequence sorting with samples ordered from short to long; the order is part of the method and stays."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class GradedSequences(Dataset):
    """Sorted by difficulty, easiest first. The target is the largest element's position."""

    def __init__(self, size, seed):
        g = torch.Generator().manual_seed(seed)
        length = (3 + 7 * torch.arange(size) / size).long()
        values = torch.rand(size, 10, generator=g)
        self.x = values.masked_fill(torch.arange(10) >= length.unsqueeze(1), -1.0)
        self.y = self.x.argmax(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class PointerNet(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.local = nn.Sequential(nn.Linear(1, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.context = nn.Linear(dim, dim)
        self.score = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.local(x.unsqueeze(-1))
        h = torch.tanh(h + self.context(h.mean(1, keepdim=True)))
        return self.score(h).squeeze(-1).masked_fill(x < 0, -1e4)


def accuracy(model, loader):
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(8)
    train_ds = GradedSequences(240, 1)
    train_sampler = DistributedSampler(train_ds, shuffle=False)
    train_dl = DataLoader(train_ds, batch_size=8, sampler=train_sampler)
    valid_dl = DataLoader(GradedSequences(80, 2), batch_size=40)
    model = DistributedDataParallel(PointerNet())
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=1)
    for epoch in range(4):
        model.train()
        for x, y in train_dl:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 1.0)
            optimizer.step()
        model.eval()
        acc = accuracy(model.module, valid_dl)
        plateau.step(acc)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f} valid acc {acc:.2f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
