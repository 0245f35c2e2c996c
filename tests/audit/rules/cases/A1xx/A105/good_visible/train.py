import os

import torch
import torch.distributed as dist


def main():
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]
    dist.init_process_group("nccl")
    print(torch.nn.Linear(4, 4).cuda())


if __name__ == "__main__":
    main()
