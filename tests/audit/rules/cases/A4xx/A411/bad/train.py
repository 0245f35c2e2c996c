import os

import torch
import torch.distributed as dist


def pick():
    local = int(os.environ["LOCAL_RANK"])
    os.environ["CUDA_VISIBLE_DEVICES"] = str(local)
    return local


def main():
    local = pick()
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")


if __name__ == "__main__":
    main()
