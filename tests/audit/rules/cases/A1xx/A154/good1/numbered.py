import torch
import torch.distributed as dist


def main(rank):
    dist.init_process_group("nccl")
    torch.nn.Linear(2, 1).cuda(rank)


if __name__ == "__main__":
    main(0)
