"""States of models that were kept without a copy: `best = model.state_dict()` changes with the model.

Known by the first tensor in what state_dict() gave, which shallow copies of it hold, too; it is referred to weakly.
What holds other tensors, made by `detach()` or by a `to("cpu")` that had nothing to move, is known by their addresses
when it is loaded; it was taken when the model was asked last.

Who makes an optimizer anew for each round or client has none of it any more that had stepped before the state was
taken: where optimizers of the same parameters began is kept, and what is loaded back is judged by that, too.
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
MOST_BEGUN, MOST_PLACES = 64, 100_000  # optimizers, and parameters of all of them


class Taken:
    """One state: whose it is, and how far that was. A tensor and what state_dict() gives of it have one version."""

    __slots__ = ("at", "counts", "loads", "module", "ref", "steps", "version")

    def __init__(self, ref, module, marks, loads, at):
        self.ref, self.module, self.version, self.at = ref, weakref.ref(module), ref()._version, at
        self.counts, self.loads = marks.counts(), loads  # number of an optimizer -> steps; states loaded into the model
        self.steps = marks.steps  # of all optimizers


class KeptStates:
    """All that live."""

    def __init__(self, marks):
        self._marks = marks
        self.forget()

    def forget(self):
        """Starts over."""
        self._taken, self._told = {}, 0  # id of a tensor -> Taken
        self._loads = {}  # id of a model -> states of others that were loaded into it
        self._asked = {}  # id of a model -> Taken, when state_dict() was called last
        self._begun = {}  # address of a parameter -> steps of all optimizers at the first and the last first step

    def step(self, optimizer, followed):
        """Notes where an optimizer begins."""
        if followed.count > 1 or followed.index >= MOST_BEGUN:
            return
        for one in (one for group in optimizer.param_groups for one in group["params"]):
            if type(one).__name__ == "Parameter" and len(self._begun) < MOST_PLACES:
                address = one.data_ptr()
                first, _ = self._begun.get(address, (self._marks.steps, 0))
                self._begun[address] = first, self._marks.steps

    def taken(self, module, state, frame):
        """state_dict() was called from outside of another one."""
        first = _first_of(state)
        if first is None:
            return
        key, module = id(first), unwrapped(module)
        ref = weakref.ref(first, lambda _: self._taken.pop(key, None))
        one = Taken(ref, module, self._marks, self._loads.get(id(module), 0), own_frames(frame))
        if len(self._taken) < MOST:
            self._taken[key] = one
        if len(self._asked) < MOST or id(module) in self._asked:
            self._asked[id(module)] = one

    def loaded(self, module, state, frame):
        """A state is about to be loaded: if it is still the model's own, nothing is changed by that.

        Returns whether every tensor of it is.
        """
        one, module = self._known(state), unwrapped(module)
        whole = _is_whole(state, module)
        if one is not None and _is_own(one.ref(), module):
            self._tell(one, one.ref(), module, frame)
        elif whole:
            asked = self._asked.get(id(module))
            first = next(one for one in state.values() if type(one) in _kinds() and one.numel())
            if asked is not None and asked.module() is module:
                self._tell(asked, first, module, frame)
        elif len(self._loads) < MOST or id(module) in self._loads:
            self._loads[id(module)] = self._loads.get(id(module), 0) + 1
        return whole

    def saved(self, content, file, frame):
        """A file was written."""
        if not self._taken:
            return
        held = list(content.values()) if isinstance(content, dict) else []
        for state in (content, *(each for each in held if isinstance(each, dict))):
            one = self._known(state)
            module = one.module() if one is not None else None
            if module is not None and _is_own(one.ref(), module):
                self._tell(one, one.ref(), module, frame, file)

    def _known(self, state):
        """Returns what is known of a state by its first tensor, None where that is as it was."""
        first = _first_of(state)
        one = self._taken.get(id(first)) if first is not None else None
        return one if one is not None and one.ref() is first and first._version != one.version else None

    def _tell(self, one, tensor, module, frame, file=None):
        """Tells it where it was taken between two steps, or before another state was loaded.

        A state that was taken before the first step is "always the latest"; one that is written to is loaded back.
        """
        holder = self._marks.holder_of(tensor)
        since, step = one.counts.get(holder, 0), self._marks.counts().get(holder, 0)
        swapped = file is None and self._loads.get(id(module), 0) > one.loads
        if not 0 < since < step and not swapped:
            first, latest = self._begun.get(tensor.data_ptr(), (0, 0))
            if file is not None or not first <= one.steps < latest:
                return
            since, step = one.steps, self._marks.steps
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


def _is_whole(state, module):
    """Whether each tensor in a state lies where one of the model's does."""
    if not isinstance(state, dict):
        return False
    own = {one.data_ptr() for one in _tensors_of(module) if one.numel()}
    given = [one for one in state.values() if type(one) in _kinds() and one.numel()]
    return bool(given) and all(one.device.type != "meta" and one.data_ptr() in own for one in given)


def _kinds():
    return sys.modules["torch"].Tensor, sys.modules["torch"].nn.Parameter


def _tensors_of(module):
    held = (one for tensors in (module.parameters(), module.buffers()) for one in tensors)
    return (one for one in held if type(one).__name__ in ("Parameter", "Tensor"))


def _is_own(tensor, module):
    """Whether the tensor lies where one of the model's does."""
    if tensor is None or not tensor.numel() or tensor.device.type == "meta":
        return False
    address = tensor.data_ptr()
    return any(one.data_ptr() == address for one in _tensors_of(module))


def watch(marks):
    """Wraps Module.state_dict."""

    def taken(frame, result, args, kwargs):
        if len(args) == 1 and "destination" not in kwargs and not marks.broken:  # else it is a part of another call
            marks.states.taken(args[0], result, frame)

    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Module, "state_dict", after=taken))
