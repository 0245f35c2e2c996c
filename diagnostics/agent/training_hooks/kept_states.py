"""States of models that were kept without a copy: `best = model.state_dict()` changes with the model.

Known by the first tensor in what state_dict() gave, which shallow copies of it hold, too; it is referred to weakly.
"""

from __future__ import annotations

import sys
import weakref

from ..imports import when_imported
from ..patching import wrap_method
from ..shared.redaction import hide
from ..torch_hooks.wrapped_models import own_frames
from .roots import unwrapped

MODULE = "torch.nn.modules.module"
MOST = 16
MOST_TOLD = 4


class Taken:
    """One state: whose it is, and how far that was. A tensor and what state_dict() gives of it have one version."""

    __slots__ = ("at", "counts", "loads", "module", "ref", "version")

    def __init__(self, ref, module, counts, loads, at):
        self.ref, self.module, self.version, self.at = ref, weakref.ref(module), ref()._version, at
        self.counts, self.loads = counts, loads  # number of an optimizer -> steps; states loaded into the model


class KeptStates:
    """All that live."""

    def __init__(self, marks):
        self._marks = marks
        self.forget()

    def forget(self):
        """Starts over."""
        self._taken, self._told = {}, 0  # id of a tensor -> Taken
        self._loads = {}  # id of a model -> states of others that were loaded into it

    def taken(self, module, state, frame):
        """state_dict() was called from outside of another one."""
        first = _first_of(state)
        if first is None or len(self._taken) >= MOST:
            return
        key, module = id(first), unwrapped(module)
        ref = weakref.ref(first, lambda _: self._taken.pop(key, None))
        self._taken[key] = Taken(ref, module, self._marks.counts(), self._loads.get(id(module), 0), own_frames(frame))

    def loaded(self, module, state, frame):
        """A state is about to be loaded: if it is still the model's own, nothing is changed by that."""
        one, module = self._known(state), unwrapped(module)
        if one is not None and _is_own(one, module):
            self._tell(one, module, frame)
        elif len(self._loads) < MOST or id(module) in self._loads:
            self._loads[id(module)] = self._loads.get(id(module), 0) + 1

    def saved(self, content, file, frame):
        """A file was written."""
        if not self._taken:
            return
        held = list(content.values()) if isinstance(content, dict) else []
        for state in (content, *(each for each in held if isinstance(each, dict))):
            one = self._known(state)
            module = one.module() if one is not None else None
            if module is not None and _is_own(one, module):
                self._tell(one, module, frame, file)

    def _known(self, state):
        """Returns what is known of a state by its first tensor, None where that is as it was."""
        first = _first_of(state)
        one = self._taken.get(id(first)) if first is not None else None
        return one if one is not None and one.ref() is first and first._version != one.version else None

    def _tell(self, one, module, frame, file=None):
        """Tells it where it was taken between two steps, or before another state was loaded.

        A state that was taken before the first step is "always the latest"; one that is written to is loaded back.
        """
        holder = self._marks.holder_of(one.ref())
        since, step = one.counts.get(holder, 0), self._marks.counts().get(holder, 0)
        swapped = file is None and self._loads.get(id(module), 0) > one.loads
        if not 0 < since < step and not swapped:
            return
        self._told += 1
        if self._told <= MOST_TOLD:
            self._marks.tell(
                "state-not-kept", loaded=file is None, root=type(module).__qualname__, file=hide(file or ""),
                since=since, step=step, taken=one.at, at=own_frames(frame),
            )  # fmt: skip


def _first_of(state):
    """Returns the first tensor in a state, None where the first value is none of torch's own."""
    first = next(iter(state.values()), None) if isinstance(state, dict) else None
    return first if type(first) is sys.modules["torch"].Tensor else None


def _is_own(one, module):
    """Whether the tensor lies where one of the model's does."""
    tensor = one.ref()
    if tensor is None or not tensor.numel() or tensor.device.type == "meta":
        return False
    address = tensor.data_ptr()
    own = (held for tensors in (module.parameters(), module.buffers()) for held in tensors)
    return any(type(held).__name__ in ("Parameter", "Tensor") and held.data_ptr() == address for held in own)


def watch(marks):
    """Wraps Module.state_dict."""

    def taken(frame, result, args, kwargs):
        if len(args) == 1 and "destination" not in kwargs and not marks.broken:  # else it is a part of another call
            marks.states.taken(args[0], result, frame)

    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Module, "state_dict", after=taken))
