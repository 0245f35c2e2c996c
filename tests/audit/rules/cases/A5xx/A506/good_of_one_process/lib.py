import torch.distributed as dist


def set_up():
    dist.init_process_group("nccl")
    return dist.get_rank(), dist.get_world_size()


def learner(loss):
    loss.backward()
