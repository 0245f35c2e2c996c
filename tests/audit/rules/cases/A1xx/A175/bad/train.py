import datetime as dt
import os
from datetime import timedelta

import torch.distributed
import torch.distributed as dist


def main():
    if "SLURM_PROCID" in os.environ:
        dist.init_process_group("nccl", "env://", timedelta(seconds=2.5))
    elif "OMPI_COMM_WORLD_RANK" in os.environ:
        torch.distributed.init_process_group(backend="gloo", timeout=dt.timedelta(seconds=1))
    else:
        dist.init_process_group("gloo", timeout=timedelta(seconds=5))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
