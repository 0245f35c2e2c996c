import datetime

import torch.distributed as dist


def fence(stage, seconds):
    """Fail early, with names, when somebody does not show up."""
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=seconds), wait_all_ranks=True)
    if dist.get_rank() == 0:
        print("fence passed:", stage, flush=True)
