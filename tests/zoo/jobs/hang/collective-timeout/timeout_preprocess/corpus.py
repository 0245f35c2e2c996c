import time

import torch


def tokenise(number):
    time.sleep(0.025)  # the tokeniser is pure Python
    g = torch.Generator().manual_seed(number)
    return torch.randint(0, 64, (32,), generator=g)


def prepare(path, documents):
    torch.save(torch.stack([tokenise(number) for number in range(documents)]), path)


def read_batches(path, rank, size=4):
    tokens = torch.load(path)[:80]
    return tokens[rank::2].split(size)
