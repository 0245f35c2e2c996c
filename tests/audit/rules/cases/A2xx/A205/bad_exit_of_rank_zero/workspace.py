import sys
from pathlib import Path

import torch.distributed as dist


def prepare(folder):
    if dist.get_rank() == 0:
        if (Path(folder) / "finished").exists():
            print("nothing to do")
            sys.exit(0)
        Path(folder).mkdir(parents=True)
    dist.barrier()
