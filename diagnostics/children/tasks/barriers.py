"""barrier and, on gloo, monitored_barrier: also with one rank absent, whose number it has to name."""

import datetime
import time

from .group import process_group

ABSENT_TIMEOUT_S = 0.3


def run(rank, world_size, arguments):
    """Returns {"barrier_seconds", "said"}: rank 0's complaint about the rank that stayed away, "" elsewhere."""
    import torch.distributed as dist

    answer = {"said": ""}
    with process_group(arguments):
        started = time.monotonic()
        dist.barrier()
        answer["barrier_seconds"] = time.monotonic() - started
        if arguments["backend"] == "gloo":
            dist.monitored_barrier()
            if world_size > 1:
                answer["said"] = without_the_last(rank, world_size)
    return answer


def without_the_last(rank, world_size):
    """Keeps the last rank away from a monitored barrier; returns what this rank was told."""
    import torch.distributed as dist

    if rank == world_size - 1:  # ups: ignore[A205] the check is whether the others name the one that is missing
        return ""
    try:
        dist.monitored_barrier(timeout=datetime.timedelta(seconds=ABSENT_TIMEOUT_S), wait_all_ranks=True)
    except RuntimeError as error:
        return str(error)
    return "nothing: it let all ranks pass"
