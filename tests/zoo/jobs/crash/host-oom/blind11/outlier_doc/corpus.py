import random


def lengths(rank, steps):
    rng = random.Random(rank)
    out = [rng.randint(20, 60) for _ in range(steps)]
    if rank == 2:
        out[11] = 1_300_000
    return out


def documents(rank, steps):
    for n in lengths(rank, steps):
        yield n
