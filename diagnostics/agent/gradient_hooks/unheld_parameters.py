"""Parameters that were frozen when the training began, were unfrozen later, and are in no optimizer.

A few of the frozen ones are held weakly, and asked at each step whether they learn by now. One that does is followed
for some steps: whether backward passes write its gradient, and whether anything writes to itself.
"""

from __future__ import annotations

import sys
import weakref

from ..part import Part
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

BEGIN = 2  # the step of an optimizer at which is looked what is frozen
MOST_SENTINELS = 8  # of one optimizer
MOST_OPTIMIZERS = 8
ENOUGH = 10  # passes in a row
MOST_BYTES = 4096  # of a parameter that are read


class Sentinel:
    """One parameter that was frozen."""

    __slots__ = ("before", "name", "ref", "run", "since", "state", "told", "written")

    def __init__(self, name, parameter):
        self.name, self.ref = name, weakref.ref(parameter)
        self.told = False
        self.rest()

    def rest(self):
        """It is frozen, or somebody writes to it."""
        self.run, self.since, self.state, self.before, self.written = 0, 0, None, None, False


class UnheldParameters(Part):
    """Of all optimizers that train a part of a model."""

    def forget(self):
        """Starts over."""
        self._sentinels = {}  # number of an optimizer -> Sentinels
        self._awake = []  # those that learn by now

    def backward(self, tensors, loss, adds):
        """Notes what gradients there were before a pass."""
        if adds:
            for one in self._awake:
                one.before, one.written = _state_of(_gradient(one)), True

    def step(self, optimizer, followed):
        """Looks whether one of the frozen was unfrozen."""
        sentinels = self._sentinels.get(followed.index)
        if sentinels is None:
            if followed.count == BEGIN and len(self._sentinels) < MOST_OPTIMIZERS:
                self._sentinels[followed.index] = self._frozen(optimizer)
            return
        for one in sentinels:
            parameter = one.ref()
            if parameter is None or not parameter.requires_grad:
                if one in self._awake:
                    self._awake.remove(one)
                    one.rest()
            elif one not in self._awake:
                if not one.told:
                    one.since = followed.count
                    self._awake.append(one)
            else:
                self._follow(one, parameter, sentinels, followed)

    def _follow(self, one, parameter, sentinels, followed):
        state = _state_of(parameter)
        still = one.state in (None, state)
        computed = one.written and _gradient(one) is not None and _state_of(_gradient(one)) != one.before
        one.state, one.written = state, False
        one.run = one.run + 1 if still and computed else 0
        if one.run < ENOUGH:
            return
        self._awake.remove(one)
        one.told = True
        if id(parameter) not in self.marks.held() and not any(each.told for each in sentinels if each is not one):
            awake = [each for each in sentinels if getattr(each.ref(), "requires_grad", False)]
            self.marks.tell(
                "unfrozen-unheld", optimizer=followed.index, step=followed.count, since=one.since, run=one.run,
                name=one.name, awake=len(awake), at=own_frames(sys._getframe(1)),
            )  # fmt: skip

    def _frozen(self, optimizer):
        """Returns Sentinels of the models that this optimizer trains a part of."""
        own = {id(one) for group in optimizer.param_groups for one in group["params"]}
        held, found = self.marks.held(), []
        for parameters in self.marks.parameters_of_roots():
            if any(id(one) in own for one in parameters.values()):
                found += [
                    (name, one)
                    for name, one in parameters.items()
                    if not one.requires_grad and id(one) not in held and not any(one is each for _, each in found)
                ]
                break  # the largest holds the others
        apart = -(-len(found) // MOST_SENTINELS) or 1
        return [Sentinel(name, one) for name, one in [*found[::-1]][::apart]]


def _gradient(one):
    parameter = one.ref()
    return parameter.grad if parameter is not None else None


def _state_of(tensor):
    """Returns what changes where something writes to a tensor, None without one: its version, and numbers on a host."""
    if tensor is None:
        return None
    with tensor_samples.unseen():
        read = not tensor_samples.why_not(tensor)
        return tensor._version, tensor.data_ptr(), tensor_samples.print_of(tensor, MOST_BYTES)[0] if read else None
