import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(resume):
    dist.init_process_group("nccl")
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    model = FSDP(model)
    optimizer = torch.optim.AdamW(model.parameters())
    print(optimizer)


if __name__ == "__main__":
    main(None)
