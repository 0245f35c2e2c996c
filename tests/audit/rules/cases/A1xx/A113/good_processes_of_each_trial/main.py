import time

import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, world):
    while True:
        try:
            dist.init_process_group("gloo", rank=rank, world_size=world, init_method="tcp://127.0.0.1:0")
        except RuntimeError:
            time.sleep(1)
            continue
        break
    dist.barrier()


def trial(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world, init_method="tcp://127.0.0.1:0")
    dist.barrier()


def main():
    for world in (1, 2, 4):
        mp.spawn(trial, args=(world,), nprocs=world)
    mp.spawn(work, args=(2,), nprocs=2)


if __name__ == "__main__":
    main()
