import os

import torch
import torch.distributed as dist
from torch import nn


def run():
    dist.init_process_group("nccl")
    here = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    with torch.cuda.device(here):
        return nn.Linear(8, 8).cuda()


if __name__ == "__main__":
    run()
