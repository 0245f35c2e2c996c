import torch


def documents(rank, steps):
    g = torch.Generator().manual_seed(rank)
    for step in range(steps):
        length = 16 if rank == 0 or step < 50 else 12
        yield torch.randint(0, 32, (8, length), generator=g)
