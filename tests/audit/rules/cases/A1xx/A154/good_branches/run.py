import os

import torch
import torch.distributed as dist
from torch import nn


def on_one():
    return nn.Linear(8, 8).cuda()


def on_several():
    dist.init_process_group("nccl")
    here = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return nn.Linear(8, 8).to(here)


def run():
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        return on_several()
    else:
        return on_one()


if __name__ == "__main__":
    run()
