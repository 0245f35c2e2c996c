import hashlib
import os

import torch
import torch.distributed as dist


def setup():
    dist.init_process_group("gloo")
    torch.manual_seed(100)
    return dist.get_rank(), dist.get_world_size()


def log(message):
    if int(os.environ.get("RANK", 0)) == 0:
        print(message, flush=True)


def _digest(keys):
    joined = "|".join(keys).encode()
    value = int.from_bytes(hashlib.sha256(joined).digest()[:7], "big")
    return torch.tensor([value], dtype=torch.int64)


def reduce_and_average_losses(metrics, world_size):
    """Average a dictionary of python floats over all ranks in one collective."""
    keys = list(metrics)
    digest = _digest(keys)
    digests = [torch.zeros_like(digest) for _ in range(world_size)]
    dist.all_gather(digests, digest)
    if any(int(d) != int(digest) for d in digests):
        raise RuntimeError("Distributed loss dictionaries have different keys or ordering")
    packed = torch.tensor([metrics[k] for k in keys], dtype=torch.float64)
    dist.all_reduce(packed)
    packed /= world_size
    return dict(zip(keys, packed.tolist()))
