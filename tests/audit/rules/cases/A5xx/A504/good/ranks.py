import sys
from multiprocessing import Process

import torch


def work(rank):
    model = torch.nn.Linear(2, 1)
    model(torch.ones(1, 2)).sum().backward()


def ranks(count):
    processes = [Process(target=work, args=(rank,)) for rank in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        sys.exit(1)
