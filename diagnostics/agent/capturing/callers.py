"""Who makes and who calls a module, read from the frames on the stack."""

from __future__ import annotations

from ..frames import is_library
from ..torch_hooks.naming import WRAPPED_IN

MOST_FRAMES = 200


def constructors_above(frame, codes):
    """Whether a constructor of a module is on the stack."""
    while frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


def unwrapped(module):
    """Returns the module inside its wrappers."""
    while type(module).__name__ in WRAPPED_IN and WRAPPED_IN[type(module).__name__] in module._modules:
        module = module._modules[WRAPPED_IN[type(module).__name__]]
    return module


def forward_method(module):
    """Returns the name of the method that a module's call runs: another one where `forward` was redirected to it.

    Lightning has DDP's forward call `training_step`: for that call, a closure over the method's name stands in.
    """
    cells = getattr(vars(module).get("forward"), "__closure__", None) or ()
    for cell in cells:
        name = getattr(cell.cell_contents, "__name__", cell.cell_contents)
        if isinstance(name, str) and name != "forward" and callable(getattr(type(module), name, None)):
            return name
    return "forward"


def method_holder(module, frame):
    """Returns (holder, method, args, kwargs) where a method of a module that holds this one makes the call.

    The outermost method of an unbroken chain counts: `training_step`, not the helper that it calls. None without one.
    """
    found, holder = None, None
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        owner = _own_module(frame)
        if owner is None and found is None and is_library(frame.f_code.co_filename):
            frame = frame.f_back
            continue
        if owner is None or (holder is not None and owner is not holder):
            break
        if holder is None and (owner is module or all(one is not module for one in owner.modules())):
            break
        found, holder = frame, owner
        frame = frame.f_back
    if found is None:
        return None
    args, kwargs = _arguments(found)
    return holder, found.f_code.co_name, args, kwargs


def _own_module(frame):
    """Returns the module whose method this frame runs, None where it is none."""
    import torch

    code = frame.f_code
    if not code.co_argcount or code.co_name.startswith("<"):
        return None
    owner = frame.f_locals.get(code.co_varnames[0])
    return owner if isinstance(owner, torch.nn.Module) and _is_method(type(owner), code) else None


def _is_method(cls, code):
    """Whether a class or one it inherits from defines this code as a method: `train(model)` is none of the model's."""
    for base in cls.__mro__:
        function = vars(base).get(code.co_name)
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        if getattr(function, "__code__", None) is code:
            return True
    return False


def _arguments(frame):
    """Returns the arguments of a method as they are now, without self."""
    code, values = frame.f_code, frame.f_locals
    count, names = code.co_argcount, code.co_varnames
    args = [values[name] for name in names[1:count]]
    end = count + code.co_kwonlyargcount
    kwargs = {name: values[name] for name in names[count:end]}
    if code.co_flags & 0x04:  # *args
        args += values[names[end]]
        end += 1
    if code.co_flags & 0x08:  # **kwargs
        kwargs.update(values[names[end]])
    return tuple(args), kwargs
