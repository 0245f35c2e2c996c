import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, optimizer):
    model = DDP(net)
    for batch in loader:
        try:
            loss = model(batch).mean()
            loss.backward()
        except torch.cuda.OutOfMemoryError:
            print("rank", dist.get_rank(), "is out of memory")
            raise
        optimizer.step()


def single(net, loader):
    for batch in loader:
        try:
            print(net(batch))
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
