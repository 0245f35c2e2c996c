import os

import torch.distributed as dist


def setup(backend):
    if not dist.is_initialized():
        dist.init_process_group(backend)


def rank():
    return dist.get_rank() if dist.is_initialized() else 0


def main(args):
    print(rank())
    if args.backend == "gloo":
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("nccl")
    setup("nccl")
    pairs = dist.new_group([0, 1])
    dist.destroy_process_group(pairs)
    dist.barrier()
    dist.destroy_process_group()
    dist.init_process_group("gloo")
    dist.barrier()
    dist.destroy_process_group()
    try:
        dist.barrier()
    except ValueError:
        print("the group is gone", os.getpid())


if __name__ == "__main__":
    main(None)
