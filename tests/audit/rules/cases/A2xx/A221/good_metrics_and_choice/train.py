import torch
import torch.distributed as dist
import torch.nn.functional as F

from torch.distributed.nn.functional import all_gather as all_gather_with_graph


def gathered(x):
    parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    return torch.cat(parts)


def either(x, with_graph):
    if with_graph:
        return torch.cat(all_gather_with_graph(x))
    parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    return torch.cat(parts)


def step(model, batch, optimizer, with_graph=True):
    a, b = model(batch)
    other = either(b, with_graph)
    loss = F.cross_entropy(a @ other.t(), batch["target"])
    loss.backward()
    optimizer.step()
    mean = gathered(loss.detach().reshape(1)).mean()
    print(mean)


def validate(model, batch):
    with torch.no_grad():
        a, b = model(batch)
        val_loss = F.cross_entropy(gathered(a) @ gathered(b).t(), batch["target"])
    return val_loss


dist.init_process_group("nccl")
