"""The process group around a task: made, timed, and destroyed only where the task went well."""

import contextlib
import datetime
import time


def device(arguments):
    """Returns this rank's torch device: its own GPU on NCCL, else the CPU."""
    import os

    import torch

    if arguments["backend"] != "nccl":
        torch.set_num_threads(1)
        return torch.device("cpu")
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(own)
    return own


@contextlib.contextmanager
def process_group(arguments):
    """Opens the default group from the environment; yields the device and the seconds that took.

    A group that failed is left to the end of the process: destroying it may wait for dead peers.
    """
    import torch.distributed as dist

    place = device(arguments)
    started = time.monotonic()
    dist.init_process_group(arguments["backend"], timeout=datetime.timedelta(seconds=arguments["timeout_s"]))
    yield place, time.monotonic() - started
    dist.destroy_process_group()
