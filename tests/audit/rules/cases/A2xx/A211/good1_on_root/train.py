import torch
import torch.distributed as dist



def report(loss, writer, best):
    dist.reduce(loss, dst=0)
    if dist.get_rank() == 0:
        if loss < best:
            writer.add_scalar("best", loss)
    print(loss.shape)


def left(loss, best):
    dist.reduce(loss, dst=0)
    if dist.get_rank() != 0:
        return None
    if loss < best:
        return loss
    return best
