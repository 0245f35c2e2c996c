import torch.distributed as dist


def share(names, rank, world_size):
    unique = list(set(names))
    unique.sort()
    return unique[rank::world_size]


dist.init_process_group("gloo")
print(share(["a", "b"], dist.get_rank(), dist.get_world_size()))
