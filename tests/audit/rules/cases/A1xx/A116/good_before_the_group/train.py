from datetime import timedelta

import torch.distributed as dist


def tokenize_all(root):
    return root


def main():
    tokenize_all("corpus")
    dist.init_process_group("nccl", timeout=timedelta(seconds=60))
    if dist.get_rank() == 0:
        print("started")
    dist.barrier()


main()
