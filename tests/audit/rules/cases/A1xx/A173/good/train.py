import os
from datetime import timedelta

import torch.distributed as dist


def init_process_group(backend, timeout):
    """The program's own, of the same name."""
    print(backend, timeout)


def main():
    init_process_group("gloo", timeout=timedelta(seconds=1))
    if "SLURM_PROCID" in os.environ:
        dist.init_process_group("nccl", "env://", timedelta(minutes=5))
    elif "SECONDS" in os.environ:
        dist.init_process_group("nccl", timeout=timedelta(seconds=float(os.environ["SECONDS"])))
    elif "LONG" in os.environ:
        dist.init_process_group("gloo", timeout=timedelta(hours=1, seconds=5))
    else:
        dist.init_process_group("gloo", timeout=timedelta(seconds=6))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
