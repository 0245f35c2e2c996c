import tempfile

import torch
import torch.distributed as dist

from scenarios.files import write_corpus
from scenarios.module import DataModule, NextToken
from scenarios.trainer import BasicTrainer


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder, src=0)
    if rank == 0:
        write_corpus(folder[0])
    dist.barrier()
    torch.manual_seed(0)
    BasicTrainer(NextToken(), DataModule(folder[0], rank, world), epochs=2).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
