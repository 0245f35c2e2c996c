import torch
import torch.distributed as dist


def gather_embeddings(local):
    """All ranks' embeddings, this rank's with its graph (the others get theirs on their rank)."""
    parts = [torch.empty_like(local) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, local.detach())
    parts[dist.get_rank()] = local
    return torch.cat(parts)


def gather_labels(labels):
    parts = [torch.empty_like(labels) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, labels)
    return torch.cat(parts)
