"""Wraps loaders, their iterators, samplers and optimizers, and tells Batches what they do."""

from __future__ import annotations

import functools
import sys
from _thread import get_ident
from collections import deque

from ..imports import when_imported
from ..shared.timing_layout import DATA
from ..torch_hooks.dynamo import leave_uncompiled
from . import batch_file, batch_prints, batches, fetch_timings, gradient_groups, worker_random

LOADERS = "torch.utils.data.dataloader"
SAMPLERS = "torch.utils.data.distributed"
OPTIMIZERS = "torch.optim.optimizer"


def watch(agent):
    """Wraps loaders, samplers and optimizers when they are imported; returns what is told of outermost modules."""
    recorder, timings = batches.Batches(agent), agent.timings
    agent.at_fork.append(recorder.forget)
    leave_uncompiled(batch_file, batch_prints, batches, fetch_timings, gradient_groups, sys.modules[__name__])
    when_imported(LOADERS, lambda: _watch_loaders(recorder, timings, agent.exceptions.came_out))
    when_imported(SAMPLERS, lambda: _watch_samplers(recorder))
    when_imported(worker_random.FETCH, lambda: worker_random.watch(agent))
    when_imported(worker_random.FETCH, lambda: fetch_timings.watch(timings))
    when_imported(OPTIMIZERS, lambda: _watch_optimizers(recorder))

    unseen = sys.modules["torch"]._C.DisableTorchFunction  # modes of the job's see no look of ours at a tensor
    traced = sys.modules["torch"]._C._get_tracing_state  # to torch.jit.trace even the shape of a tensor is a step

    def given(module, args, kwargs):
        try:
            if traced() is None:
                with unseen():
                    recorder.given(module, args, kwargs)
        except Exception:
            pass  # nothing is known of this call; the job goes on

    return given


def _watch_loaders(recorder, timings, came_out):
    module = sys.modules[LOADERS]
    _before(module.DataLoader, "__init__", lambda args: recorder.remember(args[0], sys._getframe(1)))
    original, unseen = module.DataLoader.__iter__, sys.modules["torch"]._C.DisableTorchFunction

    @functools.wraps(original)
    def __iter__(self):  # noqa: N807
        timings.loader_begins(recorder.key_of(self, sys._getframe(1)))
        before = timings.enter(DATA)  # workers are started
        try:
            iterator = original(self)
        finally:
            timings.leave(before)
        try:
            vars(iterator)["_ups_doctor_stages"] = timings.loader
            with unseen():  # the length of a data set may be that of a tensor
                recorder.begin(self, iterator, sys._getframe(1))
        except Exception:
            pass  # nobody sees these batches; the job goes on
        return iterator

    module.DataLoader.__iter__ = __iter__
    _watch_iterator(recorder, module._BaseDataLoaderIter, timings, came_out)


def _watch_iterator(recorder, owner, timings, came_out):
    """Wraps what hands batches over, and what asks the sampler: with workers, that is some batches ahead."""
    next_batch, next_index, reset = owner.__next__, owner._next_index, owner._reset
    inside = set()  # threads in __next__: one iterator may go over another

    @functools.wraps(next_index)
    def _next_index(self):
        indices = next_index(self)
        try:
            vars(self).setdefault("_ups_doctor_indices", deque(maxlen=1024)).append(
                indices if type(indices) in (list, tuple) else None
            )
        except Exception:
            pass  # the indices of a batch less
        return indices

    @functools.wraps(reset)
    def _reset(self, *args, **kwargs):
        vars(self).pop("_ups_doctor_indices", None)
        return reset(self, *args, **kwargs)

    @functools.wraps(next_batch)
    def __next__(self):  # noqa: N807
        thread = get_ident()
        if thread in inside:  # a loader that is the dataset of another one
            return next_batch(self)
        inside.add(thread)
        before = -1
        try:
            timings.loader = vars(self).get("_ups_doctor_stages", 0)
            before = timings.enter(DATA)
            batch = next_batch(self)
        except StopIteration:
            try:
                recorder.ended(self, sys._getframe(1))
            except Exception:
                pass  # the pass reads as not ended
            raise
        except Exception as error:
            came_out(error)
            raise
        finally:
            timings.leave(before)
            inside.discard(thread)
        try:
            waiting = vars(self).get("_ups_doctor_indices")
            recorder.handed(self, batch, waiting.popleft() if waiting else None)
        except Exception:
            pass  # a batch nobody saw; the job goes on
        return batch

    owner.__next__, owner._next_index, owner._reset = __next__, _next_index, _reset


def _watch_samplers(recorder):
    owner = sys.modules[SAMPLERS].DistributedSampler
    _before(owner, "__init__", lambda args: recorder.remember(args[0], sys._getframe(1)))
    _before(owner, "set_epoch", lambda args: recorder.epoch_set(args[0], sys._getframe(1)))


def _watch_optimizers(recorder):
    register = getattr(sys.modules[OPTIMIZERS], "register_optimizer_step_post_hook", None)
    unseen = sys.modules["torch"]._C.DisableTorchFunction
    compiling = getattr(sys.modules["torch"].compiler, "is_compiling", bool)

    def stepped(optimizer, args, kwargs):
        if compiling():
            return
        try:
            with unseen():
                recorder.stepped(optimizer)
        except Exception:
            pass  # a step that is not counted here; the job goes on

    if register is not None:
        register(stepped)


def _before(owner, name, tell):
    original = getattr(owner, name)

    @functools.wraps(original)
    def call(*args, **kwargs):
        try:
            tell(args)
        except Exception:
            pass  # nothing is known of this one; the job goes on
        return original(*args, **kwargs)

    setattr(owner, name, call)
