"""`if is_main_process:` asks for the function, which is there on every rank: all of them come to the barrier."""
import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


def announce():
    dist.barrier()


def main():
    dist.init_process_group("nccl")
    if is_main_process:
        announce()


main()
