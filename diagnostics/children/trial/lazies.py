"""Parameters that wait for a first forward to get their shape: a stand-in never runs it, so they are made for it."""

from ..trial_observers.tree import lazy
from .alone import made


def make(module, path, recorded):
    """Gives the parameters of a lazy module the shapes that its recorded inputs call for."""
    calls = recorded.calls.get(path)
    if calls and any(lazy(one) for one in module._parameters.values()) and hasattr(module, "_infer_parameters"):
        args, kwargs = made(calls[0])
        module._infer_parameters(module, args, kwargs or None)
