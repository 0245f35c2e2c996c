"""One module run alone, on the inputs it was given in a recorded forward, under the path that it has in the model."""

import torch

from ..inspection.refusal import Refusal
from ..trial_observers.walking import mapped, tensors_in
from .making import Making, known, prepared


class Alone(torch.nn.Module):
    """Holds the module where the model held it; its forward makes the recorded calls, in their order."""

    def __init__(self, model, path, calls):
        super().__init__()
        self.called = [(call.path, call.line["grad"]) for call in calls]
        *above, last = path.split(".")
        holder = self
        for name in above:
            holder.add_module(name, torch.nn.Module())
            holder = getattr(holder, name)
        module = model.get_submodule(path)
        holder.add_module(last, module)
        if not any(call.line["grad"] for call in calls):
            module.requires_grad_(False)  # else wrappers wait for gradients that never come
        trained = any(one.requires_grad for one in module.parameters())
        self.anchor = None if trained else torch.nn.Parameter(torch.zeros(1))  # wrappers demand one

    def forward(self, *given):
        """Returns the tensors that each call gave."""
        outputs = [] if self.anchor is None else [self.anchor.sum()]
        for (path, grad), (args, kwargs) in zip(self.called, given):  # noqa: B905 - Python 3.8 has no strict
            module = self
            for name in path.split("."):
                module = getattr(module, name)
            args, kwargs = mapped(tuple(args), self.as_given), mapped(dict(kwargs), self.as_given)
            with torch.set_grad_enabled(grad and torch.is_grad_enabled()):
                gave = tensors_in(module(*args, **kwargs))
            # A module without an output has written into its inputs.
            outputs.append(gave if any(one.requires_grad for one in gave) else [*gave, *tensors_in((args, kwargs))])
        return outputs

    def as_given(self, tensor):
        """Returns an input that came out of another module: no leaf, so that it may be changed in place."""
        return tensor.clone() if tensor.requires_grad else tensor


def run_alone(model, path, recorded, amp):
    """Returns a model that runs this module alone, and its calls. Raises Refusal where no inputs were recorded."""
    calls = topmost(model, path, recorded)
    if not calls:
        raise Refusal("the inputs of %s were not recorded: no forward came so far" % path)
    unknown = next((call for call in calls if not known(call.line["args"]) or not known(call.line["kwargs"])), None)
    if unknown is not None:
        raise Refusal("an input of %s is of a kind that cannot be written down" % unknown.path)

    def following():
        return tuple(made(call, amp) for call in calls), {}

    for call in calls:
        model.get_submodule(call.path).train(call.line["training"])
    return Alone(model, path, calls), following


def topmost(model, path, recorded):
    """Returns the calls of the module, or where it is a list that nobody calls those of what it holds, in order."""
    own = recorded.calls.get(path)
    if own:
        return own
    held = model.get_submodule(path).named_children()
    found = [call for name, _ in held for call in topmost(model, "%s.%s" % (path, name), recorded)]
    return sorted(found, key=lambda call: call.number)


def made(call, amp=""):
    """Returns (args, kwargs) of a recorded call, each time anew, as they are under autocast to the dtype `amp`."""
    given = Given(lower=lower(call.line["autocast"], amp))
    stored = call.given()
    args, kwargs = (given.make(prepared(call.line[part], stored)) for part in ("args", "kwargs"))
    return args, kwargs


def lower(recorded, amp):
    """Returns which dtypes are others than those recorded."""
    if amp and not recorded:
        return (torch.float32, getattr(torch, amp), True)
    return (getattr(torch, recorded), torch.float32, False) if recorded and not amp else None


class Given(Making):
    """Makes inputs; one that was the very tensor of another is it again."""

    def tensor(self, told):
        """Returns a leaf with the recorded numbers, or the tensor made before."""
        if "input" in told and told["input"] < len(self.inputs):
            tensor = self.inputs[told["input"]]
        elif "kept" in told:
            tensor = told["kept"].clone()
            if tensor.is_floating_point():
                tensor = tensor.to(self.as_now(told, tensor.dtype))
        else:
            tensor = super().tensor({**told, "grad": False})
        if told["grad"] and not tensor.requires_grad:
            tensor.requires_grad_()
        self.inputs.append(tensor)
        return tensor
