"""Weights that a program had two modules share, and that each holds for itself by the time it trains.

A parameter that is given to a second module is a tie. What loads, empties or shards a model puts new parameters into
the place of the old ones, one for each module; the program's own assignments are told apart by who makes them.
"""

from __future__ import annotations

import sys
import weakref

from ..frames import is_library
from ..imports import when_imported
from ..part import Part
from ..patching import wrap_method
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

MODULE = "torch.nn.modules.module"
MOST_PARAMETERS, MOST_TIES = 20000, 16
LOOKS = (3, 30)  # steps of the first optimizer


class SharedWeights(Part):
    """Of all modules of this process."""

    def forget(self):
        """Starts over."""
        self._holders = {}  # id of a parameter -> (weak reference to it, to its first module, name there)
        self._ties = {}  # (id of the second module, name there) -> (its weak reference, first module, name, frames)

    def registered(self, module, name, parameter, frame):
        """A parameter is put into a module."""
        self._ties and self._ties.pop((id(module), name), None)
        if parameter is None:
            return
        key = id(parameter)
        known = self._holders.get(key)
        if known is None or known[0]() is not parameter:
            if len(self._holders) < MOST_PARAMETERS:
                ref = weakref.ref(parameter, lambda _: self._holders.pop(key, None))
                self._holders[key] = ref, weakref.ref(module), name
            return
        _, first, first_name = known
        if first() not in (None, module) and len(self._ties) < MOST_TIES:
            self._ties[id(module), name] = weakref.ref(module), first, first_name, own_frames(frame)

    def step(self, optimizer, followed):
        """Looks whether both modules still hold one parameter."""
        if self._ties and not followed.index and followed.count in LOOKS:
            held = {id(one) for group in optimizer.param_groups for one in group["params"]}
            with tensor_samples.unseen():
                for (_, name), (ref, first, first_name, at) in self._ties.items():
                    self._compare((first(), first_name), (ref(), name), held, followed, at)

    def _compare(self, first, second, held, followed, at):
        one, other = (_parameter_of(*place) for place in (first, second))
        if one is None or other is None or one is other or not {id(one), id(other)} <= held:
            return
        if one.shape == other.shape and one.data_ptr() != other.data_ptr():
            names = self.marks.names_of([one, other])
            if len(names) == 2:
                self.marks.tell(
                    "weights-untied", step=followed.count, first=names[0], second=names[1], at=at,
                    kind=type(one).__name__, shape=list(one.shape), stepped_at=own_frames(sys._getframe(1)),
                )  # fmt: skip


def _parameter_of(module, name):
    return (module.__dict__.get("_parameters") or {}).get(name) if module is not None else None


def watch(shared):
    """Wraps what puts parameters into modules."""

    def registered(frame, args, kwargs):
        if len(args) == 3 and not shared.marks.steps and not _is_loading(frame):
            shared.registered(*args, frame)

    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Module, "register_parameter", before=registered))


def _is_loading(frame):
    """Whether a load puts the parameter there, which is no decision of the program's."""
    outer = frame.f_back if frame.f_code.co_name == "__setattr__" else frame
    return outer is not None and is_library(outer.f_code.co_filename) and outer.f_code.co_name.startswith("_load_from")
