"""What may meet, and does not surely: a method of an unknown object, a forward without gradients."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Saver:
    def save(self, path):
        dist.barrier()


def train(net, batches, pictures):
    model = DDP(torch.nn.Sequential(net, torch.nn.BatchNorm1d(4)))
    for batch in batches:
        model(batch).mean().backward()
        if dist.get_rank() == 0:
            pictures[0].save("sample.png")
        if dist.get_rank() == 0:
            with torch.no_grad():
                model(batch)
