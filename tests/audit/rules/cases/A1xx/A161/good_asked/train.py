import sys

import torch.multiprocessing as mp


def worker(rank):
    print(rank)


def main():
    if mp.current_process().name != "MainProcess":
        return
    mp.spawn(worker, nprocs=4)


main()
