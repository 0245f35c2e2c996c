"""Samples of the buffers of models: what no optimizer changes, and what each rank is to hold alike.

Left out are statistics of batch norm, which each rank has of its own, and what is no number in floating point.
"""

from __future__ import annotations

from . import tensor_samples
from .wrapped_models import modules_in

MOST = 64


def buffers_of(roots):
    """Returns [(dotted name, tensor)] of what can be read, wrappers left out of the names."""
    found, seen = [], set()
    for root in roots:
        for path, module, _ in modules_in(root):
            if id(module) in seen or hasattr(module, "running_mean"):
                continue
            seen.add(id(module))
            for name, tensor in (module.__dict__.get("_buffers") or {}).items():
                if len(found) < MOST and tensor is not None and _is_told(tensor):
                    found.append(("%s.%s" % (path, name) if path else name, tensor))
    return found


def prints_of(buffers):
    """Returns the print of each."""
    return [tensor_samples.print_of(tensor, tensor_samples.LEAST_OF_ONE) for _, tensor in buffers]


def _is_told(tensor):
    return not tensor_samples.why_not(tensor) and tensor.is_floating_point() and tensor.numel() > 1
