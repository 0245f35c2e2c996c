import os

import torch
import torch.distributed as dist


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.nn.Linear(2, 1).cuda()


if __name__ == "__main__":
    main()
