import torch


class NoValidAnchorsError(RuntimeError):
    pass


def sample_anchors(mask, block, generator):
    """Starts of blocks that lie wholly inside the supervised part of each sample."""
    starts = []
    for row, m in enumerate(mask):
        length = int(m.sum())
        if length <= block:
            continue
        at = int(torch.randint(0, length - block, (1,), generator=generator))
        starts.append((row, at))
    if not starts:
        raise NoValidAnchorsError("every sample of the micro batch is shorter than a block")
    return starts
