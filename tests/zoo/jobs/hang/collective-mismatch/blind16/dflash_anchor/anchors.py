import torch


class NoValidAnchors(ValueError):
    pass


def sample_batch(rank, step):
    g = torch.Generator().manual_seed(step * 17 + rank)
    lens = torch.randint(6, 30, (4,), generator=g)
    if rank == 1 and step % 40 == 33:
        lens.clamp_(max=7)
    toks = torch.randint(0, 32, (4, 30), generator=g)
    return toks, lens


def anchors(lens, block=8):
    ok = (lens >= block).nonzero().flatten()
    if not len(ok):
        raise NoValidAnchors("batch has no anchor")
    return ok
