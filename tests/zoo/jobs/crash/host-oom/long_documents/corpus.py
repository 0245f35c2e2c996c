import torch


def documents(rank, count=24):
    gen = torch.Generator().manual_seed(rank)
    lengths = torch.randint(60, 200, (count,), generator=gen).tolist()
    if rank == 0:
        lengths[15] = 9000
    for n in lengths:
        yield torch.randint(0, 128, (n,), generator=gen)
