"""Tiles of a map; each has a header that says how it was packed."""
import torch

PACKINGS = {0: torch.float32, 1: torch.float16}


def header(index):
    return {"packing": 3 if index == 11 else index % 2, "side": 6}


def read(index):
    head = header(index)
    dtype = PACKINGS[head["packing"]]
    generator = torch.Generator().manual_seed(index)
    return torch.randn(head["side"], head["side"], generator=generator).to(dtype).float()
