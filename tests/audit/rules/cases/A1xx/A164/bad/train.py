import torch.distributed as dist


def mine(names):
    return [name for name in names if hash(name) % dist.get_world_size() == dist.get_rank()]


dist.init_process_group("gloo")
print(mine(["a", "b"]))
