"""What one rank's device computes: a block of memory, matmuls beside float64, and a digest of the results."""

import hashlib

from .group import device as own_device

SIDE = 256


def run(rank, world_size, arguments):
    """Returns {"device", "allocated_bytes", "intact", "errors": {dtype: relative error}, "digest"}."""
    import torch

    device = own_device(arguments)
    size = block_bytes(device, arguments["block_bytes"])
    block = torch.full((size // 4,), 3, dtype=torch.int32, device=device)
    intact = bool((block == 3).all())
    del block
    errors, digest = matmuls(arguments["dtypes"], device)
    if arguments.get("corrupt_rank") == rank:
        digest = "0" * len(digest)
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        "allocated_bytes": size,
        "intact": intact,
        "errors": errors,
        "digest": digest,
    }


def block_bytes(device, wanted):
    """Returns what to allocate: a quarter of what a GPU has free, else what was asked for."""
    if device.type != "cuda":
        return wanted
    import torch

    return torch.cuda.mem_get_info(device)[0] // 4


def matmuls(dtypes, device):
    """Returns each dtype's relative error against float64 on the CPU, and one digest over all results."""
    import torch

    generator = torch.Generator().manual_seed(17)
    left, right = (torch.randn(SIDE, SIDE, generator=generator, dtype=torch.float64) for _ in range(2))
    errors, digest = {}, hashlib.sha256()
    for name in dtypes:
        dtype = getattr(torch, name)
        a, b = left.to(dtype), right.to(dtype)
        exact = a.double() @ b.double()
        got = (a.to(device) @ b.to(device)).cpu()
        errors[name] = float((got.double() - exact).norm() / exact.norm())
        digest.update(got.contiguous().view(torch.uint8).numpy().tobytes())
    return errors, digest.hexdigest()
