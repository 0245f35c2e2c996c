import os

import torch
import torch.distributed as dist


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    model = torch.nn.Linear(2, 2).to(f"cuda:{local_rank}")
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    model.cuda()
    dist.barrier()


if __name__ == "__main__":
    main()
