"""A model's modules with what each holds itself: numbers, dtypes, devices."""

from .made import definition
from .memory import registered

MAX_ROWS = 5000


def modules(model):
    """Returns one row a module that holds parameters or buffers of its own, in the model's order."""
    rows = []
    for path, module in model.named_modules():
        own = registered_here(module)
        if own:
            rows.append(
                {
                    "path": path,
                    "class_name": type(module).__name__,
                    "parameters": sum(tensor.numel() for _, tensor, kind in own if kind == "parameter"),
                    "buffers": sum(tensor.numel() for _, tensor, kind in own if kind == "buffer"),
                    "dtypes": sorted({short(tensor.dtype) for _, tensor, _ in own}),
                    "devices": sorted({str(tensor.device) for _, tensor, _ in own}),
                }
            )
    return rows[:MAX_ROWS]


def registered_here(module):
    """Returns (name, tensor, kind) of what the module itself holds."""
    return [one for one in registered(module) if "." not in one[0]]


def tensors(model):
    """Returns what may differ between the model's tensors: dtype, device, whether it is trained."""
    seen, rows = set(), []
    for name, tensor, kind in registered(model):
        if id(tensor) not in seen:
            seen.add(id(tensor))
            rows.append(
                {
                    "name": name,
                    "kind": kind,
                    "dtype": short(tensor.dtype),
                    "device": str(tensor.device),
                    "elements": tensor.numel(),
                    "dimensions": tensor.dim(),
                    "floating": tensor.is_floating_point(),
                    "trainable": bool(tensor.requires_grad),
                    "place": definition(model, name),
                }
            )
    return rows[:MAX_ROWS]


def short(dtype):
    """Returns "float32" for torch.float32."""
    return str(dtype).replace("torch.", "")
