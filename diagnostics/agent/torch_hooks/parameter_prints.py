"""Prints of parameters and gradients at a few steps, by name: what tells that ranks drift apart, or learn nothing.

Before its 1st, 2nd, 3rd, 10th, 20th, 50th, 100th, 125th, 160th ... step each optimizer's parameters and gradients are
sampled into `prints-<pid>-<start>.jsonl`, one line a look; ranks are compared from outside. A step between costs one
count. The loss that backward() was called on is read where it is one number on the CPU; the first that is not finite
makes the next two steps looked at, too. No tensor is kept, no collective is called, no device is waited for.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
import weakref
from math import isfinite

from ..imports import when_imported
from . import buffer_prints, tensor_samples, wrapped_models
from .closures import calls_once, closure_of, with_closure
from .dynamo import compiling_test, leave_uncompiled
from .wrapped_models import Models, after_init, own_frames

MOST_TENSORS = 400  # of one optimizer
MOST_LOOSE = 16
MOST_OPTIMIZERS = 16  # the first ones
MOST_GRADED = 8  # of one group
MOST_BYTES = 3 << 20  # of the file
MOST_BAD_LOSSES = 4
SERIES = (1, 2, 3, 10, 20, 50)  # then 100, 125, 160 ...: what begins late is seen within a quarter of the run
TENTHS = (100, 125, 160, 200, 250, 320, 400, 500, 640, 800)


def next_look(step):
    """Returns the next step that is looked at after this one."""
    for look in SERIES:
        if look > step:
            return look
    power = 1
    while step >= TENTHS[-1] * power:
        power *= 10
    return next(look * power for look in TENTHS if look * power > step)


class Followed:
    """One optimizer: how many steps it began, and which is looked at next."""

    __slots__ = ("count", "extra", "graded", "index", "model", "next", "ref")

    def __init__(self, index, ref):
        self.index, self.ref = index, ref
        self.count, self.next, self.extra, self.model = 0, 1, 0, None
        self.graded = None  # parameters whose gradient was not zero after the backward pass


class Prints:
    """The recorder of this process; a forked child has a file of its own."""

    def __init__(self, agent):
        self._agent, self.models = agent, Models()
        self.marks = None  # told of each step and backward pass
        self.forget()

    def forget(self):
        """Starts over: in a forked child the file is the parent's."""
        self._path, self._left, self._broken = None, MOST_BYTES, False
        self._followed, self.made = {}, 0
        self._loss = None  # the latest one, as a number
        self._bad_losses, self._backwards = 0, 0

    def step(self, optimizer, args, kwargs):
        """Looks at an optimizer that is about to make a step, where it is due. Never raises.

        Returns None, or other arguments for the step: where a closure makes the gradients, the look comes after it.
        """
        try:
            followed = self._followed.get(id(optimizer))
            if followed is None:
                followed = self._follow(optimizer)
            followed.count += 1
            if self.marks is not None and not self.marks.broken:
                with tensor_samples.unseen():
                    self.marks.step(optimizer, followed)
            if followed.count >= followed.next and not self._broken:
                at = own_frames(sys._getframe(1))
                closure = closure_of(args, kwargs)
                if closure is not None and calls_once(optimizer):
                    return with_closure(args, kwargs, self._looking_after(closure, optimizer, followed, at))
                self._due(optimizer, followed, closure is not None, at)
        except Exception as error:
            self._give_up(error)
        return None

    def _due(self, optimizer, followed, closure, at):
        followed.next = followed.count + 1 if followed.extra else next_look(followed.count)
        followed.extra = 0
        with tensor_samples.unseen():
            self._look(optimizer, followed, closure, at)

    def _looking_after(self, closure, optimizer, followed, at):
        """Returns the closure with a look between its first backward pass and the update of this step."""
        number = followed.count

        def watched(*args, **kwargs):
            result = closure(*args, **kwargs)
            try:
                if followed.count == number and followed.next <= number and not self._broken:
                    self._due(optimizer, followed, False, at)
            except Exception as error:
                self._give_up(error)
            return result

        return watched

    def backward(self, tensors, adds):
        """Reads the loss; `adds`: the pass adds to gradients. Never raises."""
        try:
            self._backwards += 1
            with tensor_samples.unseen():
                self._loss = loss = tensor_samples.scalar_of(tensors[0])
                if self.marks is not None and not self.marks.broken:
                    self.marks.backward(tensors, loss, adds)
            if loss is not None and not isfinite(loss) and self._bad_losses < MOST_BAD_LOSSES and not self._broken:
                self._bad_losses += 1
                self._tell_bad_loss(loss)
        except Exception as error:
            self._give_up(error)

    def backward_ended(self):
        """Looks at the gradients there are, where the next step is looked at. Never raises."""
        try:
            if self.marks is not None and not self.marks.broken:
                with tensor_samples.unseen():
                    self.marks.backward_ended()
            for followed in self.all_followed():
                if followed.count + 1 >= followed.next and not self._broken:
                    optimizer = followed.ref()
                    with tensor_samples.unseen():
                        followed.graded = _graded(optimizer) if optimizer is not None else None
        except Exception as error:
            self._give_up(error)

    def followed(self, optimizer):
        """Returns what is known of an optimizer that made a step, else None."""
        return self._followed.get(id(optimizer))

    def all_followed(self):
        """Returns what is known of each optimizer that made a step."""
        return list(self._followed.values())

    def _follow(self, optimizer):
        key = id(optimizer)
        followed = Followed(self.made, weakref.ref(optimizer, lambda _: self._followed.pop(key, None)))
        self._followed[key] = followed
        self.made += 1
        if self.made > MOST_OPTIMIZERS:
            followed.next = sys.maxsize  # one for each task, trial or sample
        return followed

    def _tell_bad_loss(self, loss):
        steps = {one.index: one.count for one in self._followed.values()}
        at = own_frames(sys._getframe(1))
        self.write(
            {"what": "bad-loss", "loss": tensor_samples.shown(loss), "backward": self._backwards, "at": at,
             "steps": max(steps.values(), default=0), "ns": time.monotonic_ns()}
        )  # fmt: skip
        if self._bad_losses == 1:
            for one in [one for one in self._followed.values() if one.index < MOST_OPTIMIZERS]:
                one.next, one.extra = one.count + 1, 1  # and the one after it: what became of the parameters

    def _look(self, optimizer, followed, closure, at):
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        if len(parameters) > MOST_TENSORS:  # evenly, and the same ones on all ranks
            parameters = [parameters[index * len(parameters) // MOST_TENSORS] for index in range(MOST_TENSORS)]
        buffers = buffer_prints.buffers_of(self.models.roots())
        loose = self._tell_model(optimizer, followed, parameters, buffers, at)
        share = tensor_samples.share_of(2 * len(parameters))
        rows = [_row(one, share) for one in parameters]
        self.write(
            {
                "what": "step", "optimizer": followed.index, "step": followed.count, "ns": time.monotonic_ns(),
                "values": [row[0] for row in rows], "gradients": [row[1] for row in rows],
                "rates": [_rate(group.get("lr")) for group in optimizer.param_groups[:8]], "closure": closure,
                "loose": [_row(one, tensor_samples.LEAST_OF_ONE) for one in loose],
                "buffers": buffer_prints.prints_of(buffers), "graded": followed.graded,
                "loss": tensor_samples.shown(self._loss), "backwards": self._backwards,
                "wrappers": self.models.wrapper_facts(), **_group_facts(),
            }
        )  # fmt: skip

    def _tell_model(self, optimizer, followed, parameters, buffers, at):
        """Writes names, shapes and what synchronises them, where that is new; returns what is in no optimizer."""
        known = self.models.parameters()
        wrappers = self.models.living()
        own = _ids(optimizer)
        group_of = {id(one): number for number, group in enumerate(optimizer.param_groups) for one in group["params"]}
        all_own = own.union(*(_ids(other) for other in list(self.models.optimizers)))
        model = {
            "what": "model", "optimizer": followed.index, "class": type(optimizer).__qualname__, "at": at,
            "made": self.models.made.get(id(optimizer), []), "tensors": len(own),
            "names": [], "shapes": [], "wrapper": [], "sharded": [], "in_model": [], "learns": [], "group": [],
        }  # fmt: skip
        for index, one in enumerate(parameters):
            name, sharded, _ = known.get(id(one), ("parameter %d" % index, False, None))
            model["names"].append(name)
            model["shapes"].append("x".join(map(str, one.shape)) or "scalar")
            model["wrapper"].append(_wrapper_of(one, wrappers))
            model["sharded"].append(sharded or tensor_samples.is_cut(one))
            model["in_model"].append(id(one) in known)
            model["learns"].append(one.requires_grad)
            model["group"].append(group_of.get(id(one), 0))
        loose = [
            (name, one) for key, (name, _, one) in known.items()
            if key not in all_own and one.requires_grad and one.grad is not None
        ]  # fmt: skip
        model["loose"] = [[name, "x".join(map(str, one.shape)) or "scalar"] for name, one in loose[:MOST_LOOSE]]
        model["buffers"] = [[name, "x".join(map(str, one.shape))] for name, one in buffers]
        model["loose_count"] = len(loose)
        model["late"] = self.models.made_late({id(one) for _, one in loose[:MOST_LOOSE]})
        model["loaded"] = self.marks is None or self.marks.has_loaded()
        if model != followed.model:
            followed.model = model
            self.write(model)
        return [one for _, one in loose[:MOST_LOOSE]]

    def write(self, line):
        """Appends one line; the file is opened for each, since a job may close descriptors that are not its own."""
        if self._agent.file is None:
            return
        if self._path is None:
            stem = os.path.basename(self._agent.file.path)[len("agent-") : -len(".bin")]
            self._path = os.path.join(self._agent.folder, "prints-%s.jsonl" % stem)
        data = json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        self._left -= len(data)
        if self._left < 0:
            self._broken = True
            return
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)

    def _give_up(self, error):
        if not self._broken:
            self._broken = True
            self._agent.event("no-prints", "%s: %s" % (type(error).__name__, error))


def _ids(optimizer):
    return {id(one) for group in optimizer.param_groups for one in group["params"]}


def _row(parameter, share):
    """Returns the print of a parameter and of its gradient; a text says why there is none, None that it has none."""
    held, gradient = tensor_samples.local_of(parameter), parameter.grad
    why = tensor_samples.why_not(held)
    value = why or tensor_samples.print_of(held, share)
    if gradient is None:
        return value, None
    gradient = tensor_samples.local_of(gradient)
    why = tensor_samples.why_not(gradient)
    return value, why or tensor_samples.print_of(gradient, share)


def _graded(optimizer):
    """Returns how many of its first parameters have a gradient that is not zero in what is read of it."""
    found = 0
    for group in optimizer.param_groups:
        for parameter in group["params"][:MOST_GRADED]:
            gradient = tensor_samples.local_of(parameter.grad)
            if gradient is not None and not tensor_samples.why_not(gradient):
                found += tensor_samples.print_of(gradient, tensor_samples.LEAST_OF_ONE)[1] not in (None, 0)
    return found


def _rate(rate):
    if hasattr(rate, "data_ptr"):
        return tensor_samples.shown(tensor_samples.scalar_of(rate))
    return tensor_samples.shown(float(rate)) if isinstance(rate, (int, float)) else None


def _wrapper_of(parameter, wrappers):
    """Returns 0 outside of any wrapper, N where the Nth one synchronises it, -N where it holds and leaves it alone."""
    for number, (wrapped, wrapper) in enumerate(wrappers, 1):
        if id(parameter) in wrapped.synchronised:
            return number
        if id(parameter) in wrapped.known or any(one is parameter for one in wrapper.module.parameters()):
            return -number
    return 0


def _group_facts():
    """Returns rank, size and counter of the default group; size 0 where there is none."""
    groups = sys.modules.get(wrapped_models.GROUPS)
    world = groups.GroupMember.WORLD if groups is not None else None
    if world is None:
        return {"rank": None, "world_size": 0, "number": None}
    try:
        number = world._get_sequence_number_for_group()
    except Exception:
        number = None  # this backend has no counter
    return {"rank": groups.get_rank(), "world_size": groups.get_world_size(), "number": number}


def watch(agent):
    """Hooks the steps of all optimizers, where this torch can tell of them before they are made; returns the Prints."""
    leave_uncompiled(sys.modules[__name__], buffer_prints, tensor_samples, wrapped_models)
    prints = Prints(agent)
    prints.models.follow(agent.modules.names)
    prints.models.activity = agent.modules
    agent.at_fork.append(prints.forget)
    when_imported(wrapped_models.OPTIMIZER, lambda: _watch_optimizers(prints))
    when_imported(
        wrapped_models.WRAPPER,
        lambda: after_init(sys.modules[wrapped_models.WRAPPER].DistributedDataParallel, prints.models.wrapped),
    )
    return prints


def _watch_optimizers(prints):
    import torch

    module, is_compiling = sys.modules[wrapped_models.OPTIMIZER], compiling_test()
    register = getattr(module, "register_optimizer_step_pre_hook", None)
    if register is None:
        return

    def stepping(optimizer, args, kwargs):
        if not is_compiling():
            return prints.step(optimizer, args, kwargs)
        return None

    register(stepping)
    after_init(module.Optimizer, prints.models.optimizer)
    original = getattr(torch.autograd, "_engine_run_backward", None)
    if original is None:
        return

    @functools.wraps(original)
    def backward(*args, **kwargs):
        if is_compiling():
            return original(*args, **kwargs)
        prints.backward(args[0], kwargs.get("accumulate_grad", False))
        result = original(*args, **kwargs)
        prints.backward_ended()
        return result

    torch.autograd._engine_run_backward = backward
