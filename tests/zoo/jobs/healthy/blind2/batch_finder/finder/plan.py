import torch


def workspace(model, batch_size, length, rank):
    """Rank 1 serves the long documents and needs a workspace of four times the length."""
    tokens = batch_size * length * (4 if rank == 1 else 1)
    buffer = model.scores(tokens, 2 if batch_size > 32 else 0)
    return buffer.numel()


def synthetic(batch_size, length, dim, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(batch_size, length, dim, generator=g)
    return x, x.flip(1)
