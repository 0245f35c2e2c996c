import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh


def run():
    dist.init_process_group("nccl")
    init_device_mesh("cuda", (dist.get_world_size(),))
    here = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return nn.Linear(8, 8).cuda(), here


if __name__ == "__main__":
    run()
