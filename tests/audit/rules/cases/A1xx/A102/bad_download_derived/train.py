import torch.distributed as dist

from sets import digits, prepare, weights


def main(root):
    data = prepare(root)
    more = digits(root)
    weights("gpt2")
    dist.init_process_group("nccl")
    return data, more


if __name__ == "__main__":
    main("data")
