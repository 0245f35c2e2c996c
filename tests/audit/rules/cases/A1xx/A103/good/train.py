import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP

from net import Net


def sharded():
    model = FSDP(Net())
    return model, torch.optim.AdamW(model.parameters())


def replicated(device):
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters())
    model.to(device)  # keeps the parameter objects
    return DDP(model), optimizer


def two_models():
    teacher, student = Net(), Net()
    optimizer = torch.optim.AdamW(student.parameters())
    return FSDP(teacher), student, optimizer


def main():
    dist.init_process_group("nccl")
    print(sharded(), replicated("cuda:0"), two_models())


if __name__ == "__main__":
    main()
