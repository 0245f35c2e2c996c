"""A module whose forward gives what was recorded of it: same object, same parameters, nothing of its own code run.

Every module of the subtree gets such a forward: the one on top has those below add their parameters, and where code
outside reaches past it and calls one of them, that one stands in for itself.
"""

import types

import torch

from ..inspection.refusal import Refusal
from ..trial_observers.walking import signature, tensors_in
from . import lazies, units
from .autocasting import autocast
from .making import Making
from .touching import TOUCH, nothing_of, touched

STATE = "_ups_doctor_stand_in"
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
MARKS = ("_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs")


class State:
    """What a stand-in knows of the module."""

    def __init__(self, module, variants, guess):
        self.variants, self.guess = variants, guess
        self.names = [name for name, one in module._parameters.items() if one is not None]
        self.below = [name for name, child in module.named_children() if is_called(child) and has_parameters(child)]
        # What cannot be called is read: parametrizations stay what they are, for whoever reads the weight.
        self.read = [child for child in module.children() if not is_called(child)]
        self.trained = any(one.requires_grad for one in module.parameters())
        self.sets = []  # (module, attribute, structure) of all below, where code outside reads them


def is_called(module):
    """Whether a module's forward can be replaced."""
    if isinstance(module, (torch.jit.ScriptModule, torch.nn.ParameterList, torch.nn.ParameterDict)):
        return False
    return not type(module).__module__.startswith("torch.nn.utils.parametri")


def has_parameters(module):
    """Whether there is any parameter in or below."""
    return next(module.parameters(), None) is not None


def install(model, path, recorded, guess):
    """Makes the module at this path a stand-in, with all that lie below. Returns the paths that only guess."""
    top = model.get_submodule(path)
    if isinstance(top, torch.jit.ScriptModule):
        raise Refusal("%s is compiled by torch.jit: its forward cannot be replaced" % (path or "the model"))
    guessed = []
    for below, module in top.named_modules(prefix=path):
        if STATE in vars(module) or not is_called(module):
            continue
        lazies.make(module, below, recorded)
        variants = recorded.variants(below)
        state = State(module, variants, guess)
        object.__setattr__(module, STATE, state)
        if not variants and units.is_called(module):
            guessed.append(below)
    for below, module in top.named_modules(prefix=path):
        if is_called(module):
            bare(module)
            vars(module)[STATE].sets = sets_below(module, below, recorded)
            module.forward = types.MethodType(forward, module)
    return guessed


def sets_below(module, path, recorded):
    """Returns the attributes that a forward of the module set, on itself and on those below."""
    found = []
    for below, one in module.named_modules(prefix=path):
        for variant in recorded.variants(below)[:1]:
            found += [(one, name, told) for name, told in variant.sets.items()]
    return found


def bare(module):
    """Removes the hooks that the user's code has put on a module and its parameters; torch's own stay."""
    for kind in HOOKS:
        hooks = getattr(module, kind, None) or {}
        for number in [number for number, hook in hooks.items() if not type(hook).__module__.startswith("torch.nn.")]:
            del hooks[number]
            for marks in MARKS:
                (getattr(module, marks, None) or {}).pop(number, None)
    for parameter in module._parameters.values():
        if parameter is not None:
            parameter._backward_hooks = None
            if getattr(parameter, "_post_accumulate_grad_hooks", None):
                parameter._post_accumulate_grad_hooks = None


def forward(self, *args, **kwargs):
    """The forward of a stand-in."""
    state = vars(self)[STATE]
    if kwargs.pop(TOUCH, False):
        return own(self, state, args[0])
    inputs = tensors_in((args, kwargs))
    variant = chosen(state.variants, args, kwargs, inputs)
    device = device_of(self, inputs)
    depends = own(self, state, nothing_of(inputs, device))
    if variant is None:
        return state.guess.give(self, inputs, depends)
    alone = state.trained and not variant.carries
    making = Making(inputs, depends, device, lowered(variant, inputs), everything=alone)
    for module, name, told in state.sets:
        setattr(module, name, making.make(told))
    if alone and not variant.has_floats:
        for at in variant.mutates:
            inputs[at].add_(depends.to(inputs[at].dtype))
    return making.make(variant.output)


def own(module, state, total):
    """Returns the total with all parameters in and below the module."""
    total = touched(module, state.names, state.below, total)
    for child in state.read:
        for below in child.modules():
            total = touched(below, [name for name, _ in below.named_parameters(recurse=False)], (), total)
    return total


def chosen(variants, args, kwargs, inputs):
    """Returns the variant that was called most like this, None where none is known."""
    if len(variants) < 2:
        return variants[0] if variants else None
    called, shapes = signature((args, kwargs)), [tuple(one.shape) for one in inputs]
    return max(variants, key=lambda one: one.likeness(called, shapes))


def device_of(module, inputs):
    """Returns where the outputs belong: with the inputs, else with the parameters."""
    first = inputs[0] if inputs else next(module.parameters(), None)
    return "cpu" if first is None else first.device


def lowered(variant, inputs):
    """Returns what of the dtypes is not as it was recorded, see Making: autocast was switched, or the model cast."""
    floats, now = [one.dtype for one in inputs if one.is_floating_point()], autocast()
    if now and not variant.autocast:
        return (torch.float32, getattr(torch, now), True)
    if variant.autocast and not now:
        return (getattr(torch, variant.autocast), floats[0] if floats else torch.float32, False)
    if floats and variant.dtype not in (None, floats[0]) and not now:
        return (variant.dtype, floats[0], False)
    return None
