import torch
import torch.distributed as dist
from roles import Roles


def build(roles):
    group = dist.new_group(roles.actors)
    return group if roles.is_actor else None


def main():
    dist.init_process_group("gloo")
    roles = Roles(dist.get_rank())
    group = build(roles)
    if group is not None:
        dist.all_reduce(torch.ones(1), group=group)
    dist.barrier()
    dist.destroy_process_group()


main()
