import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from ordering import main_process_first
from vocab import build, cached, load


def get_vocabulary(rank):
    """Each node has a copy of its own; here two ranks make a node."""
    node = rank // 2
    with main_process_first():
        build(node)
    return load(node)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    warm = DistributedDataParallel(torch.nn.Linear(4, 4))
    for _ in range(12):
        (warm(torch.randn(8, 4)) ** 2).mean().backward()
        warm.zero_grad()
    vocabulary = get_vocabulary(rank)
    model = DistributedDataParallel(torch.nn.Embedding(len(vocabulary), 4))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        words = torch.randint(0, len(vocabulary), (16,))
        opt.zero_grad()
        (model(words) - 1).square().mean().backward()
        opt.step()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
