import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from metrics import MeterBook


def evaluate(model, book, rank):
    g = torch.Generator().manual_seed(50 + rank)
    for b in range(4):
        x = torch.randn(12, 5, generator=g)
        y = torch.randint(0, 2, (12,), generator=g) if rank == 2 else torch.zeros(12, dtype=torch.long)
        with torch.no_grad():
            hit = model.module(x).argmax(1) == y
        book.add("acc", hit.float().mean().item())
        rare = y == 1
        if rare.any():
            book.by_class("rare")[1].add(hit[rare].float().mean().item())
    return book.merge()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(nn.Linear(5, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        x = torch.randn(8, 5)
        loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    books = evaluate(model, MeterBook(), rank)
    if rank == 0:
        print("acc", [b["acc"].mean for b in books])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
