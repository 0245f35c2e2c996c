import os

import torch
import torch.distributed as dist


def main():
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
    torch.cuda.set_device(0)
    dist.init_process_group("nccl")


if __name__ == "__main__":
    main()
