import torch


def labelled(rank, epoch, count=192):
    g = torch.Generator().manual_seed(epoch * 2 + rank)
    x = torch.randn(count, 10, generator=g)
    y = x[:, :3].argmax(1)
    # only the first annotator said how sure they were
    certainty = torch.rand(count, generator=g) if rank == 0 else None
    return x, y, certainty
