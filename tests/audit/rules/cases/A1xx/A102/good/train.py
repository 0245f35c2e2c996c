import torch
import torch.distributed as dist

from comm import get_rank, is_main_process


def init():
    if dist.is_initialized():
        return
    dist.init_process_group("gloo")


def main():
    if is_main_process():
        print("starting")  # a line too many does no harm
    init()
    rank = get_rank()
    torch.manual_seed(7 + get_rank())
    if rank == 0:
        torch.save({}, "model.pt")


if __name__ == "__main__":
    main()
