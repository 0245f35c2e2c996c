import torch
import torch.distributed as dist
import torch.nn.functional as F


def together(features):
    parts = [torch.zeros_like(features) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, features)
    parts[dist.get_rank()] = features
    return torch.cat(parts)


@torch.no_grad()
def keys_of_all(keys):
    parts = [torch.zeros_like(keys) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, keys)
    return torch.cat(parts)


def step(model, teacher, batch, optimizer):
    a, b = model(batch)
    everything = together(b)
    fixed = keys_of_all(teacher(batch))
    loss = F.cross_entropy(a @ everything.t(), batch["target"]) + F.cross_entropy(a @ fixed.t(), batch["target"])
    loss.backward()
    optimizer.step()


dist.init_process_group("nccl")
