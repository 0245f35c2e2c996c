import torch
import torch.distributed as dist


def fit(batches, local):
    dist.init_process_group("nccl")
    total = torch.zeros(2, device=local)
    for batch in batches:
        total = total.double()
        total = total.float()
        total += batch.sum().to(local)
    dist.all_reduce(total)
    return total
