"""Which dtype autocast gives now."""

import torch

BY_DEVICE = hasattr(torch, "get_autocast_dtype")  # from torch 2.4 on


def autocast():
    """Returns "bfloat16" or the like, "" where autocast is off."""
    if BY_DEVICE:
        on = [device for device in ("cuda", "cpu") if torch.is_autocast_enabled(device)]
        return str(torch.get_autocast_dtype(on[0]))[6:] if on else ""
    if torch.is_autocast_enabled():
        return str(torch.get_autocast_gpu_dtype())[6:]
    return str(torch.get_autocast_cpu_dtype())[6:] if torch.is_autocast_cpu_enabled() else ""
