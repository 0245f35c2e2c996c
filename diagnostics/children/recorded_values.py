"""Prints the numbers of recorded tensors, as far as they are few: FILE... -> {FILE: [[...] or null, ...]} as JSON.

Numbers that JSON has no word for come as "nan", "inf" and "-inf".
"""

import json
import math
import sys

import torch

MOST = 512


def main(files):
    """Prints one object for all files."""
    print(json.dumps({file: [shown(one) for one in loaded(file)] for file in files}))


def loaded(file):
    """Returns what lies in a file."""
    try:
        return torch.load(file, map_location="cpu", weights_only=False)
    except TypeError:  # torch before 1.13 has no such argument
        return torch.load(file, map_location="cpu")


def shown(value):
    """Returns a tensor's numbers in their order, None where they are many or no real numbers."""
    if not isinstance(value, torch.Tensor) or value.is_complex() or value.numel() > MOST:
        return None
    numbers = value.double() if value.is_floating_point() else value
    return [
        str(one) if isinstance(one, float) and not math.isfinite(one) else one for one in numbers.flatten().tolist()
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
