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
    elif "TRIAL" in os.environ:
        limit = timedelta(seconds=2) if os.environ["TRIAL"] == "1" else timedelta(minutes=2)
        dist.init_process_group("gloo", timeout=limit)
    elif "SOON" in os.environ:
        dist.init_process_group("gloo", timeout=timedelta(milliseconds=200))  # A116 tells of it
    else:
        dist.init_process_group("gloo", timeout=timedelta(seconds=6))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
