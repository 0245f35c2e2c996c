import copy
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class BatchProbe:
    def __init__(self, net, device):
        self.net = copy.deepcopy(net)
        self.device = device

    def run(self, size):
        self.net(torch.randn(size, 64, device=self.device)).square().mean().backward()

    def largest(self):
        best = 1
        for size in (8, 16, 32, 64):
            try:
                self.run(size)
                best = size
            except RuntimeError as error:
                if "out of memory" not in str(error):
                    raise
                torch.cuda.empty_cache()
        told = torch.tensor(best, device=self.device)
        dist.all_reduce(told, op=dist.ReduceOp.MIN)
        return int(told)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(dist.get_rank())
    net = nn.Linear(64, 64).to(device)
    size = BatchProbe(net, device).largest()
    model = DDP(net, device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(1000):
        x = torch.randn(size, 64, device=device)
        opt.zero_grad(set_to_none=True)
        (model(x) - x).square().mean().backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
