"""Blocks for a draft model: anchors are positions from which the next tokens are predicted together."""
import torch


class NoValidAnchorsError(RuntimeError):
    pass


def find_anchors(lengths, block, stride):
    rows, columns = [], []
    for row, length in enumerate(lengths.tolist()):
        for start in range(0, length - block, stride):
            rows.append(row)
            columns.append(start)
    if not rows:
        raise NoValidAnchorsError(f"no sequence of {lengths.tolist()} is longer than a block of {block}")
    return torch.tensor(rows), torch.tensor(columns)


def gather_blocks(ids, rows, columns, block):
    offsets = torch.arange(1, block + 1)
    return ids[rows.unsqueeze(1), columns.unsqueeze(1) + offsets]
