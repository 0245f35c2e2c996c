import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Shard:
    def __init__(self, urls):
        self.urls = [url for url in urls if abs(hash(url)) % dist.get_world_size() == dist.get_rank()]


def main(urls):
    dist.init_process_group("nccl")
    net = DistributedDataParallel(torch.nn.Linear(8, 8))
    for url in Shard(urls).urls:
        net(torch.load(url)).mean().backward()
