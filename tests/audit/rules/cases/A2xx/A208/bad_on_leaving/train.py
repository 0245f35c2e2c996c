import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Spared:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            return True
        return False


def main(net, loader):
    dist.init_process_group("nccl")
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        with Spared():
            loss = (model(x) - y).square().mean()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()
