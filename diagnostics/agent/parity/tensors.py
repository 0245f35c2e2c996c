"""Tensors of a model as an experiment keeps them: copies on the CPU, shards as they lie, names without wrappers."""

from __future__ import annotations

import hashlib
import re

from . import structures

WRAPPED_IN = re.compile(r"(?:^|(?<=\.))(?:module|_orig_mod|_fsdp_wrapped_module|_forward_module)\.")
MOST_ROWS = 4096


def local(value):
    """Returns the plain tensor of a rank: of a sharded one, its shard."""
    return getattr(value, "_local_tensor", value)


def kept(value):
    """Returns a copy on the CPU, None for None."""
    if value is None:
        return None
    plain = local(value.detach())
    if plain.is_sparse:
        plain = plain.to_dense()
    return plain.to("cpu", copy=True).contiguous()


def clean(name):
    """Returns a parameter's name as the innermost model calls it."""
    return WRAPPED_IN.sub("", name)


def inner(module):
    """Returns the user's own module inside wrappers."""
    while type(module).__module__.startswith("torch.") and hasattr(module, "module"):
        module = module.module
    return getattr(module, "_orig_mod", module)


def shard_dimension(value):
    """Returns along which dimension a tensor is sharded over the ranks, None for a whole one."""
    for placement in getattr(value, "placements", ()):
        if getattr(placement, "dim", None) is not None and placement.is_shard():
            return placement.dim
    return None


def of_optimizer(optimizer):
    """Returns its parameters in its own order."""
    return [one for group in optimizer.param_groups for one in group["params"]]


def optimizer_state(optimizer):
    """Returns the state of each parameter: numbers and tensors by name."""
    import torch

    found = []
    for one in of_optimizer(optimizer):
        state = optimizer.state.get(one, {})
        found.append(
            {
                key: kept(value) if isinstance(value, torch.Tensor) else value
                for key, value in state.items()
                if isinstance(value, (torch.Tensor, int, float))
            }
        )
    return found


def completed(parts, shards):
    """Returns whole parameters, made of what each rank keeps of them."""
    import torch

    return [
        [
            values[0] if dimension is None else torch.cat(values, dimension)
            for values, dimension in zip(zip(*group), dims)  # noqa: B905 - strict came with 3.10
        ]
        for group, dims in zip(zip(*parts), shards)  # noqa: B905 - strict came with 3.10
    ]


def fill(target, value):
    """Copies a kept value into a parameter or buffer; returns whether it has the same shape."""
    import torch

    plain = local(target)
    if tuple(plain.shape) != tuple(value.shape):
        return False
    with torch.no_grad():
        plain.copy_(value)
    return True


def difference(after, before):
    """Returns what was added to gradients, None where there are none."""
    return [
        [None if new is None else new if old is None else new - old for new, old in zip(news, olds)]  # noqa: B905 - strict came with 3.10
        for news, olds in zip(after, before)  # noqa: B905 - strict came with 3.10
    ]


def number(value):
    """Returns a number of what may be a tensor, sharded or not."""
    try:
        whole = value.full_tensor() if hasattr(value, "full_tensor") else value
        return float(whole)
    except Exception:
        return None


def autocasting():
    """Whether operations are cast to a lower precision now."""
    import torch

    try:
        return any(torch.is_autocast_enabled(device) for device in ("cpu", "cuda"))
    except TypeError:  # before torch 2.4
        return torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()


def kinds(module):
    """Returns how many modules there are of the kinds that matter when a batch is divided."""
    import torch

    found = {"batch_norm": 0, "sync_batch_norm": 0, "dropout": 0}
    for one in module.modules():
        if isinstance(one, torch.nn.SyncBatchNorm):
            found["sync_batch_norm"] += 1
        elif isinstance(one, torch.nn.modules.batchnorm._BatchNorm):
            found["batch_norm"] += 1
        elif isinstance(one, torch.nn.modules.dropout._DropoutNd):
            found["dropout"] += bool(one.p)
    return found


def batch_facts(batch):
    """Returns digests of a batch's samples, and the counts that a loss may divide by."""
    found = [(path, one.detach().cpu()) for path, one in structures.leaves(batch, "batch") if one.dim()]
    size = len(found[0][1]) if found else 0
    rows = [one for _, one in found if len(one) == size]
    counts = {}
    for path, one in found:
        if one.dtype.is_floating_point or one.is_complex():
            continue
        counts["%s != 0" % path] = int((one != 0).sum())
        counts["%s != -100" % path] = int((one != -100).sum())
    samples = []
    for at in range(min(size, MOST_ROWS)):
        digest = hashlib.sha256()
        for one in rows:
            digest.update(
                one[at].contiguous().reshape(-1).view(_bytes()).numpy().tobytes() if one[at].dim() else _scalar(one[at])
            )
        samples.append(digest.hexdigest()[:16])
    return {"size": size, "samples": samples, "counts": counts}


def _bytes():
    import torch

    return torch.uint8


def _scalar(value):
    return repr(value.item()).encode()
