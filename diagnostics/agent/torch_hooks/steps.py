"""How often the job trained: optimizer steps with their times, and backward passes.

A hook of every optimizer counts the steps. Inside torch.compile it may only leave a mark, which the next backward
pass counts; so a compiled step is seen late, and two without a backward pass between them are one.
"""

from __future__ import annotations

import atexit
import functools
import sys
import time
import weakref

from ..shared import layout
from .dynamo import compiling_test

MODULE = "torch.optim.optimizer"
GROUPS = "torch.distributed.distributed_c10d"


class Compiled:
    """`stepped`: a compiled function called an optimizer's step since this was last looked at."""

    stepped = False


class Steps:
    """The recorder of this process; it gets its area at the first step or backward pass, also after a fork."""

    def __init__(self, agent):
        self._agent = agent
        self.compiled = Compiled()
        self.forget()

    def forget(self):
        """Starts over: in a forked child the area is the parent's."""
        self._words, self._broken = None, False
        self._counts = {}  # id of an optimizer -> itself, its steps
        self._graded = set()  # ids of those that had a gradient in some step
        self._count = self._backwards = self.depth = 0

    def step(self, optimizer):
        """Counts a step of one optimizer; what is published are the steps of the busiest. Never raises."""
        try:
            counts, key = self._counts, id(optimizer)
            seen, steps = counts.get(key, (None, 0))
            if seen is None or seen() is not optimizer:  # an optimizer that is gone leaves its id to another
                seen, steps = weakref.ref(optimizer), 0
            steps += 1
            counts[key] = seen, steps
            if key not in self._graded:
                self._grade(key, optimizer)
            if steps <= self._count or (self._words is None and not self._attach()):
                return
            self._count, words, now = steps, self._words, time.monotonic_ns()
            words[layout.STEPS_HEADER_WORDS + steps % layout.STEP_SLOTS] = now
            if steps == 1:
                words[layout.STEP_FIRST] = now
            words[layout.STEP_LAST] = now
            words[layout.STEP_COUNT] = steps
            self._note_group(now)
            self._agent.timings.step_ended(steps)
        except Exception:
            self._broken, self._words = True, None

    def _grade(self, key, optimizer):
        """Notes whether any parameter of an optimizer had a gradient; the first one has, as a rule."""
        groups = getattr(optimizer, "param_groups", None)  # what torch.compile stepped has none: it cannot be told
        if groups is None or any(one.grad is not None for group in groups for one in group["params"]):
            self._graded.add(key)

    def end(self):
        """At exit: says so where no step of any optimizer had a gradient to use."""
        self.flush()
        if self._counts and not self._graded:
            most = max(steps for _, steps in self._counts.values())
            self._agent.event("no-gradients", "optimizers=%d steps=%d" % (len(self._counts), most))

    def backward_begins(self):
        """Counts a backward pass, unless it is inside another one. Never raises."""
        try:
            self.depth += 1
            if self.depth > 1 or (self._words is None and not self._attach()):
                return
            self.flush()
            self._backwards += 1
            words, now = self._words, time.monotonic_ns()
            words[layout.BACKWARD_ENTERED] = now
            words[layout.BACKWARDS] = self._backwards
            self._note_group(now)
        except Exception:
            self._broken, self._words = True, None

    def backward_ends(self):
        """Never raises."""
        try:
            self.depth = max(0, self.depth - 1)
            if not self.depth and self._words is not None:
                self._words[layout.BACKWARD_LEFT] = time.monotonic_ns()
        except Exception:
            self._broken, self._words = True, None

    def flush(self):
        """Counts a step that a compiled function made."""
        if self.compiled.stepped:
            self.compiled.stepped = False
            self.step(self.compiled)

    def _note_group(self, now):
        """Publishes the default group's own counter: inside a backward pass only C++ moves it."""
        groups = sys.modules.get(GROUPS)
        group = groups.GroupMember.WORLD if groups is not None else None
        if group is None:
            return
        try:
            number = group._get_sequence_number_for_group() + 1
        except Exception:
            number = 0
        self._words[layout.GROUP_NUMBER] = number
        self._words[layout.GROUP_NUMBER_AT] = now

    def _attach(self):
        if self._broken or self._agent.file is None:
            return False
        try:
            self._words = self._agent.file.torch_area("steps")[: layout.STEPS_BYTES].cast("Q")
        except OSError as error:
            self._broken = True
            self._agent.event("no-steps-area", str(error))
        return self._words is not None


def watch(agent):
    """Registers the hook where this torch has it, else wraps the step of each optimizer class when one is made."""
    import torch

    module, recorder, is_compiling = sys.modules[MODULE], Steps(agent), compiling_test()
    compiled = recorder.compiled
    agent.at_fork.append(recorder.forget)
    atexit.register(recorder.end)

    def stepped(optimizer, args, kwargs):
        if is_compiling():
            compiled.stepped = True
            return
        agent.timings.optimizer_ended()
        recorder.step(optimizer)

    def stepping(optimizer, args, kwargs):
        if not is_compiling():
            agent.timings.optimizer_begins()

    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is not None:
        module.register_optimizer_step_pre_hook(stepping)
        register(stepped)
    else:
        _wrap_classes(module.Optimizer, stepped)
    for name in ("_engine_run_backward", "backward"):  # the first is behind torch.autograd.grad too
        original = getattr(torch.autograd, name, None)
        if original is not None:
            setattr(torch.autograd, name, _counted_backward(original, recorder, is_compiling, agent))
            break


def _counted_backward(original, recorder, is_compiling, agent):
    enter, leave = agent.timings.enter_backward, agent.timings.leave_backward
    came_out = agent.exceptions.came_out

    @functools.wraps(original)
    def backward(*args, **kwargs):
        if is_compiling():
            return original(*args, **kwargs)
        recorder.backward_begins()
        before = enter()
        try:
            return original(*args, **kwargs)
        except Exception as error:
            if recorder.depth == 1:
                came_out(error)
            raise
        finally:
            leave(before)
            recorder.backward_ends()

    return backward


def _wrap_classes(owner, stepped):
    make = owner.__init__

    @functools.wraps(make)
    def __init__(self, *args, **kwargs):  # noqa: N807
        make(self, *args, **kwargs)
        kind = type(self)
        if not hasattr(kind.step, "_ups_doctor_step"):
            kind.step = _counted_step(kind.step, stepped)

    owner.__init__ = __init__


def _counted_step(original, stepped):
    @functools.wraps(original)
    def step(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        stepped(self, args, kwargs)
        return result

    step._ups_doctor_step = True
    return step
