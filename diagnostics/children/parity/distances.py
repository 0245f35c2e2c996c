"""How far two lists of tensors are apart, and by which factor."""

import math

import torch


def largest(one, other, names, floor):
    """Returns the largest relative difference of corresponding tensors, where it is, and both values there.

    Relative to the larger of: the tensor's largest number, `floor` times the largest number of all tensors. So a
    gradient that is nothing but rounding counts as nothing.
    """
    pairs = [(name, first, second) for name, first, second in zip(names, one, other)]  # noqa: B905 - strict came with 3.10
    sizes = [
        float(value.abs().max()) for _, *values in pairs for value in values if value is not None and value.numel()
    ]
    least = floor * max([size for size in sizes if math.isfinite(size)], default=0.0)
    worst = {"difference": 0.0, "name": "", "values": []}
    for name, first, second in pairs:
        found = _of_two(first, second, least)
        if found["difference"] > worst["difference"] or not math.isfinite(found["difference"]):
            worst = {**found, "name": name}
        if not math.isfinite(worst["difference"]):
            break
    return worst


def _of_two(first, second, least):
    if first is None and second is None:
        return {"difference": 0.0, "values": []}
    if first is None or second is None:
        present = first if second is None else second
        if not present.numel() or float(present.abs().max()) <= least:
            return {"difference": 0.0, "values": []}
        size = float(present.abs().max())
        return {"difference": 1.0, "values": [0.0 if first is None else size, 0.0 if second is None else size]}
    if first.shape != second.shape:
        return {"difference": 1e300, "values": [], "shapes": [list(first.shape), list(second.shape)]}
    if not first.numel():
        return {"difference": 0.0, "values": []}
    first, second = first.double().reshape(-1), second.double().reshape(-1)
    apart = (first - second).abs()
    at = int(apart.nan_to_num(nan=math.inf).argmax())
    values = [float(first[at]), float(second[at])]
    if not bool(torch.isfinite(first).all()) or not bool(torch.isfinite(second).all()):
        same = torch.equal(torch.isfinite(first), torch.isfinite(second))
        return {"difference": 0.0 if same else 1e300, "values": [str(one) for one in values]}
    size = max(float(first.abs().max()), float(second.abs().max()), least)
    return {"difference": float(apart[at]) / size if size else 0.0, "values": values}


def numbers(first, second):
    """Returns the relative difference of two numbers, None where one is missing."""
    if first is None or second is None:
        return None
    if not (math.isfinite(first) and math.isfinite(second)):
        return 0.0 if str(first) == str(second) else 1e300
    size = max(abs(first), abs(second))
    return abs(first - second) / size if size else 0.0


def flat(tensors):
    """Returns one vector of all tensors, None counting as nothing there."""
    kept = [one.double().reshape(-1) for one in tensors if one is not None]
    return torch.cat(kept) if kept else torch.zeros(0, dtype=torch.float64)


def zero_where_missing(lists):
    """Returns the lists with zeros in the place of None, where another list has a tensor."""
    models = [next((one for one in column if one is not None), None) for column in zip(*lists)]  # noqa: B905 - strict came with 3.10
    return [
        [torch.zeros_like(model) if one is None and model is not None else one for one, model in zip(row, models)]  # noqa: B905 - strict came with 3.10
        for row in lists
    ]


def factor(one, other):
    """Returns c of one = c * other in least squares, and the largest residual relative to the largest number."""
    square = float(other @ other)
    if not square:
        return {"factor": None, "residual": None}
    c = float(one @ other) / square
    size = float(one.abs().max()) or 1.0
    return {"factor": c, "residual": float((one - c * other).abs().max()) / size}


def weights(one, basis):
    """Returns w of one = sum of w[i] * basis[i] in least squares, and the relative residual."""
    matrix = torch.stack(basis, 1)
    scales = matrix.norm(dim=0)
    scales[scales == 0] = 1.0
    solved = torch.linalg.lstsq(matrix / scales, one.unsqueeze(1), driver="gelsd").solution.squeeze(1)
    size = float(one.abs().max()) or 1.0
    return {
        "weights": (solved / scales).tolist(),
        "residual": float((one - (matrix / scales) @ solved).abs().max()) / size,
    }
