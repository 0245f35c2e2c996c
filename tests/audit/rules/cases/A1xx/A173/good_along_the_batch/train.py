import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, parallelize_module
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    dist.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (8,))
    head = torch.nn.Sequential(torch.nn.Linear(8, 64))
    plan = PrepareModuleInput(input_layouts=Shard(0), desired_input_layouts=Replicate())
    parallelize_module(head, mesh, plan)
    data = TensorDataset(torch.load("x.pt"))
    loader = DataLoader(data, 8, sampler=DistributedSampler(data))
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for epoch in range(3):
        loader.sampler.set_epoch(epoch)
        for (x,) in loader:
            head(x).mean().backward()
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
