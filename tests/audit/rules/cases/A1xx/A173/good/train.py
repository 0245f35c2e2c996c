import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, parallelize_module
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def by_dimension(data, mesh):
    dp = mesh["data"]
    return DistributedSampler(data, num_replicas=dp.size(), rank=dp.get_local_rank())


def by_arithmetic(data, size):
    return DistributedSampler(data, num_replicas=dist.get_world_size() // size, rank=dist.get_rank() // size)


def main():
    dist.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (2, 4), mesh_dim_names=("data", "tensor"))
    net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    parallelize_module(net, mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    data = TensorDataset(torch.load("x.pt"))
    first, second = by_dimension(data, mesh), by_arithmetic(data, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for sampler in (first, second):
            sampler.set_epoch(epoch)
            for (x,) in DataLoader(data, 8, sampler=sampler):
                net(x).mean().backward()
                optimizer.step()
                optimizer.zero_grad()


if __name__ == "__main__":
    main()
