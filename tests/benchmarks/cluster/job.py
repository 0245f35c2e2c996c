"""A job of some steps over gloo, in which one rank does what it is told at step 5: `job.py WHAT RANK [STEPS]`."""

import ctypes
import os
import signal
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

WHAT, WHO = sys.argv[1], int(sys.argv[2])
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 10


def fail():
    if WHAT == "segv":
        ctypes.string_at(0)
    elif WHAT == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif WHAT == "raise":
        raise ValueError("bad sample 17")
    elif WHAT == "hang":
        while True:
            time.sleep(1)


def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    for step in range(STEPS):
        if step == 5 and dist.get_rank() == WHO:
            fail()
        dist.all_reduce(torch.ones(8))
        time.sleep(0.05)
    dist.destroy_process_group()


main()
