import torch.distributed as dist

from sets import by_variable, fetch, read


def main(root):
    read(root)
    by_variable(root)
    dist.init_process_group("nccl")
    fetch(root)


if __name__ == "__main__":
    main("data")
