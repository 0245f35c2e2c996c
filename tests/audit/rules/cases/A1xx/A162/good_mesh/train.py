import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.utils.data import DataLoader, DistributedSampler


def loader_of(dataset, nodes, processes_per_node):
    mesh = init_device_mesh("cuda", (nodes, processes_per_node), mesh_dim_names=("data", "domain"))
    data_mesh = mesh["data"]
    sampler = DistributedSampler(dataset, num_replicas=data_mesh.size(), rank=data_mesh.get_local_rank())
    return DataLoader(dataset, batch_size=1, sampler=sampler)


def main(dataset):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    for batch in loader_of(dataset, 2, 8):
        print(rank, batch)
