import os

import torch.distributed as dist


def init(args):
    args.world_size = int(os.environ["WORLD_SIZE"])
    dist.init_process_group("nccl", world_size=args.world_size)
