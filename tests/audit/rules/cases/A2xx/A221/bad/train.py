import torch
import torch.distributed as dist
import torch.nn.functional as F


def together(features):
    parts = [torch.zeros_like(features) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, features)
    return torch.cat(parts)


def step(model, batch, optimizer):
    a, b = model(batch)
    everything = together(b)
    loss = F.cross_entropy(a @ everything.t(), batch["target"])
    loss.backward()
    optimizer.step()


dist.init_process_group("nccl")
