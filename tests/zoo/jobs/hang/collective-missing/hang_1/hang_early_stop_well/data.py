import torch


def fold(rank):
    g = torch.Generator().manual_seed(10 + rank)
    x = torch.randn(160, 20, generator=g)
    y = (x[:, :5].sum(1) > 0).float()
    vx = torch.randn(64, 20, generator=g)
    vy = (vx[:, :5].sum(1) > 0).float()
    if rank == 1:  # this fold was labelled by an earlier annotator
        vy = 1 - vy
    return (x, y), (vx, vy)
