import torch
import torch.distributed as dist
import torch.distributed.tensor.parallel as tp
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Run:
    def __init__(self, net, data):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.mesh = dist.device_mesh.init_device_mesh("cuda", (self.world,))
        self.net = tp.parallelize_module(net, self.mesh, {"up": tp.ColwiseParallel(), "down": tp.RowwiseParallel()})
        self.sampler = DistributedSampler(data, self.world, self.rank, shuffle=True)
        self.loader = DataLoader(data, 4, sampler=self.sampler)

    def fit(self, optimizer):
        for epoch in range(3):
            self.sampler.set_epoch(epoch)
            for x in self.loader:
                self.net(x).mean().backward()
                optimizer.step()
                optimizer.zero_grad()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    run = Run(torch.load("net.pt"), torch.load("data.pt"))
    run.fit(torch.optim.SGD(run.net.parameters(), lr=0.1))
