import torch
import torch.distributed as dist



def mean_over_ranks(loss):
    loss = loss.clone()
    dist.reduce(loss, dst=0)
    return loss / dist.get_world_size()


def train(batches, model):
    for batch in batches:
        loss = mean_over_ranks(model(batch))
        if torch.isnan(loss):
            dist.barrier()
