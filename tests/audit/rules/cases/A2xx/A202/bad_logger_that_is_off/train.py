from functools import partial

import torch
import torch.distributed as dist

from log import Log


def averaged(value):
    dist.all_reduce(value)
    return float(value / dist.get_world_size())


def main():
    dist.init_process_group("nccl")
    log = Log("train.log")
    for _ in range(100):
        log.write(loss=partial(averaged, torch.ones(1)))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
