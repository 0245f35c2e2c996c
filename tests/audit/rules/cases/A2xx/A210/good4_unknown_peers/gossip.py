import torch
import torch.distributed as dist



def swap(value, other, peer):
    dist.send(value, peer)
    dist.recv(other, peer)


def serve(x):
    dist.send(x, dst=1)


def collect(parts):
    if dist.get_rank() == 0:
        for source in range(1, dist.get_world_size()):
            dist.recv(parts[source], src=source)
    else:
        dist.send(parts[0], dst=0)


def in_group(x, y, group):
    rank, world = dist.get_rank(group), dist.get_world_size(group)
    dist.send(x, dst=(rank + 1) % world, group=group)
    dist.recv(y, src=(rank - 1) % world, group=group)


def main(x):
    if dist.get_rank() == 0:
        serve(x)
    elif dist.get_rank() == 1:
        dist.recv(x, src=0)
