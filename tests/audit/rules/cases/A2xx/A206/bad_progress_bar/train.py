"""A progress bar on rank 0 changes no length; nor does what only rank 0 has and is no loop."""

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from tqdm import tqdm


def train(net, loader):
    model = DDP(net)
    batches = tqdm(enumerate(loader), total=len(loader)) if dist.get_rank() == 0 else enumerate(loader)
    for _, batch in batches:
        model(batch).mean().backward()
