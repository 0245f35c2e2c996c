import torch
import torch.distributed as dist


def mean(value):
    for _ in range(2):
        value = value.clone()
        dist.all_reduce(value)
    return value


def main():
    dist.init_process_group("nccl")
    mean(torch.ones(1, device="cuda"))


if __name__ == "__main__":
    main()
