import os
import sys
from pathlib import Path

import torch.distributed as dist


def prepare(base, name, resume):
    run = os.path.join(base, name)
    problem = [None]
    if dist.get_rank() == 0:
        try:
            os.makedirs(run, exist_ok=False)
        except OSError as error:
            problem[0] = str(error)
    dist.broadcast_object_list(problem, src=0)
    if problem[0]:
        raise SystemExit(problem[0])
    os.makedirs(os.path.join(run, "logs"), exist_ok=resume)
    return run


def main(out, name):
    dist.init_process_group("nccl")
    run = prepare(out, name, True)
    own = Path(run) / f"rank{dist.get_rank()}"
    own.mkdir(exist_ok=False)
    try:
        os.makedirs("cache", exist_ok=False)
    except FileExistsError:
        print("it is there")
    if dist.get_rank() == 0:
        (Path(run) / "samples").mkdir(exist_ok=False)
    dist.barrier()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
