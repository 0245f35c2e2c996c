import json
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from roles import Judge, Learner


def role(rank, cfg):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(cfg["port"]))
    dist.init_process_group("gloo", rank=rank, world_size=3)
    learners = dist.new_group([0, 1])
    (Judge(cfg) if rank == 2 else Learner(learners, cfg)).run()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(role, (json.load(open(sys.argv[1])),), nprocs=3)
