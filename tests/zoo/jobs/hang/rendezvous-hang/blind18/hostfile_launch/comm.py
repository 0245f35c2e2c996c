import torch.distributed as dist


def start():
    dist.init_process_group("gloo", init_method="env://")


def stop():
    dist.barrier()
    dist.destroy_process_group()
