import torch.distributed as dist


def get_rank():
    return dist.get_rank() if dist.is_initialized() else 0


def is_main():
    return get_rank() == 0


def setup():
    dist.init_process_group("nccl")
