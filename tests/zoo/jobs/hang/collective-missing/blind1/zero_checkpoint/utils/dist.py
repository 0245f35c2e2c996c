import torch.distributed as dist


def setup(backend="gloo"):
    dist.init_process_group(backend)
    return dist.get_rank(), dist.get_world_size()


def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0


def print_once(*args):
    if is_main_process():
        print(*args, flush=True)
