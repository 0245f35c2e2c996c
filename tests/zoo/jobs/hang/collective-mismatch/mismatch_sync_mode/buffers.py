import torch.distributed as dist


def synchronise(net, mode):
    for buffer in net.buffers():
        if not buffer.is_floating_point():
            continue
        if mode == "mean":
            dist.all_reduce(buffer)
            buffer /= dist.get_world_size()
        elif mode == "first":
            dist.broadcast(buffer, src=0)
        else:
            raise ValueError(mode)
