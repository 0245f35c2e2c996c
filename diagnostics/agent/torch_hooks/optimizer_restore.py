"""Optimizers whose state was read back: what tells a run that goes on from one that begins.

A state may be read into an optimizer that makes no step, since another one is made for the same parameters afterwards.
Steps are looked at for that from the first state that is read until each optimizer which steps made a few.
"""

from __future__ import annotations

import sys
import weakref

from ..imports import when_imported
from ..patching import wrap_method

MODULE = "torch.optim.optimizer"
KIND, LOST = "optimizer-restored", "restored-optimizer-unused"
STEPS = 10
MOST_RESTORED, MOST_STEPPED, MOST_PARAMETERS = 8, 16, 4096


def watch(agent):
    """Watches load_state_dict of every optimizer; the value is for how many parameters it now holds a state."""
    unused = UnusedStates(agent)

    def restored(frame, result, args, kwargs):
        agent.event(KIND, type(args[0]).__name__, value=len(args[0].state), frame=frame)
        unused.restored(args[0])

    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Optimizer, "load_state_dict", after=restored))


class UnusedStates:
    """The optimizers that hold a state which was read, until one of them or another of its parameters steps."""

    def __init__(self, agent):
        self._agent, self._handle = agent, None
        self._waiting = {}  # id of an optimizer -> (weak reference, ids of its parameters)
        self._steps = {}  # id of an optimizer that steps -> (weak reference, steps)

    def restored(self, optimizer):
        """A state was read into an optimizer."""
        register = getattr(sys.modules[MODULE], "register_optimizer_step_pre_hook", None)
        if register is None or not len(optimizer.state) or len(self._waiting) >= MOST_RESTORED:
            return
        self._waiting[id(optimizer)] = weakref.ref(optimizer), _parameters_of(optimizer)
        if self._handle is None:
            self._handle = register(self._steps_now)

    def _steps_now(self, optimizer, args, kwargs):
        if not self._waiting:
            return
        try:
            self._look(optimizer)
        except Exception:
            self._end()  # nothing is known of these optimizers; the job goes on

    def _look(self, optimizer):
        key = id(optimizer)
        reference, own = self._waiting.get(key, (None, None))
        if (
            reference is not None and reference() is optimizer
        ):  # its state is used, and that of one before it need not be
            self._waiting = {one: held for one, held in self._waiting.items() if held[1] != own}
        else:
            seen, count = self._steps.get(key, (None, 0))
            count = count + 1 if seen is not None and seen() is optimizer else 1
            self._steps[key] = weakref.ref(optimizer), count
            if count == STEPS:
                self._tell(optimizer)
        if not self._waiting or len(self._steps) > MOST_STEPPED:
            self._end()

    def _tell(self, optimizer):
        """Tells of a state that was read for the parameters which another optimizer steps."""
        own = _parameters_of(optimizer)
        for key, (_, parameters) in list(self._waiting.items()):
            if own and own == parameters:
                del self._waiting[key]
                self._agent.event(LOST, type(optimizer).__name__, value=STEPS, frame=sys._getframe(3))

    def _end(self):
        # The hook stays: torch walks over its hooks while this one runs, and fails where one is taken away meanwhile.
        self._waiting, self._steps = {}, {}


def _parameters_of(optimizer):
    found = (id(one) for group in optimizer.param_groups for one in group["params"])
    return {one for one, _ in zip(found, range(MOST_PARAMETERS))}  # noqa: B905 - strict is of Python 3.10
