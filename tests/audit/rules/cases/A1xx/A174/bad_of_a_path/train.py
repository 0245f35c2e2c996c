import torch
import torch.distributed as dist

from parts import part_of

if __name__ == "__main__":
    dist.init_process_group("nccl")
    for sample in torch.load("samples.pt"):
        if part_of(sample, 3) == "train":
            torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))(sample.x).mean().backward()
