"""What the gradients of the ranks are made of: which multiple of one process's, which shares of which rank's.

A share g[r, j] is the gradient that the j-th backward pass of one process adds when it is given what rank r was given,
at rank r's own parameters ("alone-R"). All else is told in shares, by least squares.
"""

import torch

from . import distances, rows


def of_step(runs, step, tolerance, floor):
    """Returns everything that is known of one step."""
    ranks, one = runs["ranks"], runs["one"]
    sides = [ranks.step(rank, step) for rank in range(ranks.world)]
    alone = one.step(0, step)
    applied = [ranks.tensors(rank, step, "gradients") for rank in range(ranks.world)]
    raw = [_before_clipping(ranks, step, rank) or applied[rank] for rank in range(ranks.world)]
    reference = one.tensors(0, step, "gradients")
    whole = _before_clipping(one, step, 0) or reference
    found = {
        "backwards": len(sides[0]["losses"]),
        "backwards_of_one": len(alone["losses"]),
        "clips": [len(side["clips"]) for side in sides],
        "limits": [clip["limit"] for clip in sides[0]["clips"]],
        "sizes": [sum(entry["size"] for entry in side["batches"]) for side in sides],
        "counts": [_counts(side) for side in sides],
        "samples": [rows.samples(side) for side in sides],
        "samples_of_one": rows.samples(alone),
        "losses": [rows.loss(side) for side in sides],
        "loss_of_one": rows.loss(alone),
        "hyper": [side["hyper"] for side in sides],
        "hyper_of_one": alone["hyper"],
        "random": [side["random"] for side in sides],
        "agree": [distances.largest(applied[0], other, ranks.names(), floor)["difference"] for other in applied],
        "apart": [distances.largest(mine, reference, ranks.names(), floor)["difference"] for mine in applied],
        "cut": any(clip["norm"] > clip["limit"] for side in sides for clip in side["clips"] if "norm" in clip),
        "agree_before_clipping": [distances.largest(raw[0], one, ranks.names(), floor)["difference"] for one in raw],
        "apart_before_clipping": [distances.largest(mine, whole, ranks.names(), floor)["difference"] for mine in raw],
        "factors": _factors(raw[0], whole, ranks.names(), floor),
        "applied_factors": _factors(applied[0], reference, ranks.names(), floor),
    }
    basis = _shares(runs, step)
    if basis:
        found.update(_made_of(basis, raw, applied, whole, reference, runs, step, floor))
    return found


def _before_clipping(run, step, rank):
    clips = [run.step(one, step)["clips"] for one in range(run.world)]
    if not all(clips):
        return None
    return run.whole([each[0]["before"] for each in clips], rank)


def _counts(step):
    found = {}
    for entry in step["batches"]:
        for name, number in entry["counts"].items():
            found[name] = found.get(name, 0) + number
    return found


def _factors(mine, theirs, names, floor):
    """Returns the factor of the whole gradient, and that of each parameter whose gradient is more than rounding."""
    both = distances.zero_where_missing([mine, theirs])
    found = distances.factor(*map(distances.flat, both))
    least = floor * max([float(one.abs().max()) for one in both[1] if one is not None and one.numel()], default=0.0)
    each = {}
    for name, first, second in zip(names, *both):  # noqa: B905 - strict came with 3.10
        if second is not None and second.numel() and float(second.abs().max()) > least and first.shape == second.shape:
            each[name] = distances.factor(first.double().reshape(-1), second.double().reshape(-1))
    return {**found, "by_parameter": each}


def _shares(runs, step):
    """Returns the shares, rank by rank, backward pass by backward pass; none where a run of one rank is missing."""
    found = []
    for rank in range(runs["ranks"].world):
        alone = runs.get("alone-%d" % rank)
        if alone is None or alone.steps <= step:
            return []
        for number, gradients in enumerate(alone.step(0, step)["micro"]):
            found.append((rank, number, alone.whole([gradients], 0)))
    return found


def _made_of(basis, raw, applied, whole, reference, runs, step, floor):
    names = runs["ranks"].names()
    labels = [[rank, number] for rank, number, _ in basis]
    lists = distances.zero_where_missing([*[one for _, _, one in basis], *raw, *applied, whole])
    vectors = [distances.flat(one) for one in lists]
    shares, one = vectors[: len(basis)], vectors[-1]
    sides, used = (vectors[at : at + len(raw)] for at in (len(basis), len(basis) + len(raw)))
    found = {
        "shares": labels,
        "ranks": [distances.weights(side, shares) for side in sides],
        "applied": [distances.weights(side, shares) for side in used],
        "one": distances.weights(one, shares),
        "alike": _alike(shares),
    }
    if step:
        found["with_step_before"] = [
            _with_step_before(runs, rank, step, side, shares) for rank, side in enumerate(sides)
        ]
    found["by_parameter"] = _by_parameter(lists, len(basis), len(raw), names, floor)
    clipped = [runs["alone-%d" % rank].tensors(0, step, "gradients") for rank in range(runs["ranks"].world)]
    found["mean_of_clipped"] = _apart_from_mean(applied, clipped, names, floor)
    return found


def _alike(shares):
    """Whether two shares are so alike that nothing can be told from weights."""
    matrix = torch.stack([one / (one.norm() or 1.0) for one in shares])
    angles = (matrix @ matrix.T).fill_diagonal_(0.0)
    return bool(angles.abs().max() > 1 - 1e-9)


def _with_step_before(runs, rank, step, side, shares):
    """Returns the weights with the rank's gradient of the step before as one more share: it may never be set to 0."""
    before = distances.flat(
        distances.zero_where_missing(
            [
                _before_clipping(runs["ranks"], step - 1, rank) or runs["ranks"].tensors(rank, step - 1, "gradients"),
                runs["ranks"].tensors(rank, step, "gradients"),
            ]
        )[0]
    )
    return distances.weights(side, [*shares, before]) if len(before) == len(side) else None


def _by_parameter(lists, count, ranks, names, floor):
    """Returns for each parameter the weights of what each rank uses, where its gradient is large enough to tell."""
    largest = max([float(one.abs().max()) for one in lists[-1] if one is not None and one.numel()], default=0.0)
    found = {}
    for place, name in enumerate(names):
        column = [one[place] for one in lists]
        if any(one is None for one in column) or column[0].numel() < count:
            continue
        if max(float(one.abs().max()) for one in column[:count]) <= floor * largest:
            continue
        shares = [one.double().reshape(-1) for one in column[:count]]
        mine = [distances.weights(one.double().reshape(-1), shares) for one in column[-1 - ranks : -1]]
        found[name] = {"ranks": mine, "one": distances.weights(column[-1].double().reshape(-1), shares)}
    return found


def _apart_from_mean(applied, clipped, names, floor):
    """Returns how far what the optimizers use is from the mean of what each rank would have clipped by itself."""
    lists = distances.zero_where_missing(clipped)
    mean = [None if column[0] is None else sum(column) / len(column) for column in zip(*lists)]  # noqa: B905 - strict came with 3.10
    return max(distances.largest(mine, mean, names, floor)["difference"] for mine in applied)
