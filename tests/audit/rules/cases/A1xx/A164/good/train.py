import random
import zlib

import torch.distributed as dist


def mine(names):
    return [name for name in names if zlib.crc32(name.encode()) % dist.get_world_size() == dist.get_rank()]


def share(names, rank, world_size):
    names = sorted(set(names))
    random.Random(7).shuffle(names)
    part = names[rank::world_size]
    random.shuffle(part)
    return part


def numbers(ids):
    return [one for one in ids if hash(int(one)) % dist.get_world_size() == dist.get_rank()]


dist.init_process_group("gloo")
print(share(mine(["a", "b"]), dist.get_rank(), dist.get_world_size()), numbers([1]))
