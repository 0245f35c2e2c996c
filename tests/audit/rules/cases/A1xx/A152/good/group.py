import torch.distributed as dist


def start():
    dist.init_process_group("gloo")


def stop():
    if dist.is_initialized():
        dist.destroy_process_group()
