"""Recurrent cells that are given, at each step of a sequence, their own state without its graph.

Between two backward passes, now and then, each call of a cell is looked at: whether what it is given is what it gave in
the call before, by its numbers, and whether it has a graph.
"""

from __future__ import annotations

import sys

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

CELLS = ("RNNCell", "GRUCell", "LSTMCell")
LAYERS = ("RNN", "GRU", "LSTM")
LIBRARY = "torch.nn."
LEAST = 4  # calls that were given a state of the call before
MOST_BYTES = 4096  # of a state that are read


class Cell:
    """One module between two passes."""

    __slots__ = ("at", "cut", "gave", "kind", "whole")

    def __init__(self, kind):
        self.kind, self.cut, self.whole = kind, 0, 0  # calls with its state cut off, and those that keep a graph
        self.gave, self.at = None, []  # print of the state it gave last


class CutStates(Part):
    """Of all cells of this process."""

    def forget(self):
        """Starts over."""
        self._passes = self._run = 0
        self._cells = None  # id of a module -> Cell, while it is looked

    def backward(self, tensors, loss, adds):
        """Judges what was seen since the pass before."""
        if self._cells is not None:
            self._close()

    def backward_ended(self):
        """Opens a look, where it is due."""
        self._passes += 1
        activity = self.marks.agent.modules
        if is_due(self._passes) and activity.inner is None:
            self._cells, activity.inner = {}, self._called

    def _called(self, module, args, result):
        """A module returned. Never raises."""
        try:
            if type(module).__name__ in CELLS + LAYERS and type(module).__module__.startswith(LIBRARY):
                with tensor_samples.unseen():
                    self._look(module, args, result)
        except Exception as error:
            self.marks.give_up(error)

    def _look(self, module, args, result):
        given, gave = _state(args[1] if len(args) > 1 else None), _state(_given_back(module, result))
        if gave is None or not gave.requires_grad:
            return
        one = self._cells.setdefault(id(module), Cell(type(module).__name__))
        if not _is_one_step(module, result) or (given is not None and given.requires_grad):
            one.whole += 1
        elif given is not None and one.gave == _print_of(given):
            one.cut += 1
            one.at = one.at or own_frames(sys._getframe(2))
        one.gave = _print_of(gave)

    def _close(self):
        cells, self._cells = self._cells, None
        activity = self.marks.agent.modules
        if activity.inner == self._called:
            activity.inner = None
        for one in cells.values():
            if one.cut >= LEAST and not one.whole:
                self._run += 1
                self.marks.tell("state-cut", run=self._run, cell=one.kind, calls=one.cut, at=one.at)


def _given_back(module, result):
    """Returns the state that a cell or layer gives back."""
    if type(module).__name__ in CELLS:
        return result
    return result[1] if isinstance(result, tuple) and len(result) == 2 else None


def _is_one_step(module, result):
    """Whether a call went over one step: what a layer goes over has its graph inside."""
    if type(module).__name__ in CELLS:
        return True
    shape = tuple(getattr(result[0], "shape", ()))
    along = int(len(shape) == 3 and bool(module.batch_first))
    return len(shape) in (2, 3) and shape[along] == 1


def _state(value):
    """Returns the first tensor of a state that is plainly in memory, on whatever device."""
    value = value[0] if isinstance(value, tuple) and value else value
    torch = sys.modules["torch"]
    return value if type(value) is torch.Tensor and value.layout is torch.strided and value.numel() else None


def _print_of(tensor):
    """Returns what tells a state from another one: its numbers on the host, else where it lies."""
    if tensor_samples.why_not(tensor):
        return tensor.data_ptr(), None
    return tuple(tensor.shape), tensor_samples.print_of(tensor, MOST_BYTES)[0]
