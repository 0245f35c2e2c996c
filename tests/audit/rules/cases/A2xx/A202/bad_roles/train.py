"""A player and its trainers, which answer each other in a group."""

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def player(group):
    for _ in range(3):
        dist.broadcast_object_list([None], 0, group=group)


def trainer(group, net, batches):
    model = DDP(net, process_group=group)
    for batch in batches:
        model(batch).mean().backward()


def main(net, batches):
    dist.init_process_group("gloo")
    group = dist.new_group(list(range(1, dist.get_world_size())))
    if dist.get_rank() == 0:
        player(group)
    else:
        trainer(group, net, batches)
