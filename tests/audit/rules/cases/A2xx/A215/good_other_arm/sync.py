import torch.distributed as dist


def sync(parameter, loaded):
    if not isinstance(loaded, int):
        parameter.copy_(loaded)
        dist.broadcast(parameter, src=dist.get_rank())
    else:
        dist.broadcast(parameter, src=loaded)  # the rank that holds it
