import os

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("nccl")
    dist.barrier()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    print(torch.nn.Linear(2, 2).cuda())


if __name__ == "__main__":
    main()
