"""What a process trains on: each batch of its loaders as it is handed over, and what the model is given of it.

Wraps the iterator of `DataLoader`, the constructors of loaders and samplers, and is told of each call of an outermost
module. A print is made of what lies on the host by then; nothing else of a batch is looked at.
"""

from __future__ import annotations

import functools
import sys
import weakref
from _thread import get_ident
from collections import deque

from ..imports import when_imported
from ..shared import batch_layout as layout
from . import batch_file, batch_prints, gradient_groups, worker_random
from .dynamo import leave_uncompiled
from .loader_facts import facts_of, group_exists

LOADERS = "torch.utils.data.dataloader"
SAMPLERS = "torch.utils.data.distributed"
OPTIMIZERS = "torch.optim.optimizer"
MOST_BUILT = 256  # loaders and samplers of which it is remembered where they were built


class Batches:
    """The recorder of this process; it gets its file at the first batch, also after a fork."""

    def __init__(self, agent):
        self._agent = agent
        self._groups = gradient_groups.watch(agent)
        self.built = {}  # id of a loader or sampler -> (weak reference, call path, whether there was a group)
        self._printer = None
        self.forget()

    def forget(self):
        """Starts over: in a forked child the file is the parent's."""
        self._file, self._broken = None, False
        self._steps, self._optimizers, self._latest_optimizer = {}, {}, 0
        self._epoch_calls, self._epoch_path = {}, 0
        self._datasets = {}  # line of a loader -> its data sets: (id, weak reference)
        self._current = None  # (pass, where its latest batch stands, rows of it)
        self._given = self._flags = self._model = 0
        self._input, self._has_loader = None, False  # (id of the model, pass)

    def remember(self, thing, frame):
        """Notes where a loader or sampler is built."""
        key = id(thing)
        if len(self.built) >= MOST_BUILT and key not in self.built:
            return
        forget = functools.partial(self._drop, key)
        self.built[key] = (weakref.ref(thing, forget), batch_file.call_path(frame), group_exists())

    def _drop(self, key, _):
        self.built.pop(key, None)

    def begin(self, loader, iterator, frame):
        """A loader is gone over anew."""
        file = self._attach()
        if file is None:
            return
        self._has_loader = True
        source = self._source(file, loader, frame)
        one = file.new_pass(source) if source is not None else None
        vars(iterator)["_ups_doctor_pass"] = one
        if one is None:
            return
        sampler = self._sampler(loader)
        epoch = getattr(sampler, "epoch", None)
        if type(epoch) is int:
            one.epoch, one.flags = epoch, one.flags | layout.FLAG_EPOCH
        one.first_steps = one.steps = self._most_steps()
        self._tell_epoch(one, sampler)
        vars(iterator)["_ups_doctor_sampler"] = weakref.ref(sampler) if one.flags & layout.FLAG_EPOCH else None
        file.write_pass(one)

    def handed(self, iterator, batch, indices):
        """A batch is handed over to the job."""
        one, file = vars(iterator).get("_ups_doctor_pass"), self._file
        if one is None or file is None:
            return
        number, one.batches = one.batches, one.batches + 1
        self._write_given()
        self._update(one)
        early = one.number < layout.FULL_PASSES and file.has_room()
        if early or not number % layout.LATER_EVERY:
            prints = self._printer.of(batch) if self._printer is not None else None
            self._current = one, self._print(file, one, number, prints, indices)
        else:
            self._current = one, 0
        file.write_pass(one)

    def ended(self, iterator):
        """A loader has no more batches."""
        one, file = vars(iterator).get("_ups_doctor_pass"), self._file
        if one is None or file is None:
            return
        self._write_given()
        reference = vars(iterator).get("_ups_doctor_sampler")
        sampler = reference() if reference is not None else None
        if sampler is not None:
            self._tell_epoch(one, sampler)
        one.flags |= layout.FLAG_ENDED
        self._update(one)
        file.write_pass(one)

    def _print(self, file, one, number, prints, indices):
        flags = layout.FLAG_UNREAD if prints is None else layout.FLAG_CONSTANT if prints.constant else 0
        plain = indices if indices and all(type(index) is int and index >= 0 for index in indices) else None
        if prints is not None:
            one.rows += prints.rows
            one.add_prints(prints)
        if plain is not None:
            one.flags |= layout.FLAG_INDEXED
            one.add_indices(plain)
        self._flags = flags
        return file.add_batch(one, number, prints, plain, flags)

    def given(self, module, args, kwargs):
        """An outermost module is called: `rows` of what it gets count for the batch that was handed over last."""
        if self._current is None:
            if not self._has_loader:
                self._given_input(module, args, kwargs)
            return
        tensor = _tensor_of(args, kwargs)
        if tensor is None or tensor.requires_grad or not tensor.dim():
            return
        if self._model == 0:
            self._model = id(module)
            self._groups.look(module)
        if self._model == id(module):
            self._given += tensor.shape[0]
            torch = sys.modules["torch"]
            self._flags |= layout.FLAG_TRAINED if module.training and torch.is_grad_enabled() else layout.FLAG_EVALUATED

    def _given_input(self, module, args, kwargs):
        """In a job without loaders, the model's own inputs are its batches, as long as they lie on the host."""
        if self._input is None:
            if not module.training or not any(True for _ in module.parameters()) or self._attach() is None:
                return
            path = batch_file.call_path(sys._getframe(2))
            source = self._file.source((path, "input"), layout.KIND_INPUT, path, (), "kind=input")
            if source is None:
                return
            self._groups.look(module)
            self._input = id(module), self._file.new_pass(source)
        ident, one = self._input
        file = self._file
        if ident != id(module) or not module.training or not file.has_room():
            return
        if not sys.modules["torch"].is_grad_enabled():
            return
        one.batches, one.graded = one.batches + 1, one.graded + 1
        self._update(one)
        prints = self._printer.of((args, kwargs)) if self._printer is not None else None
        self._flags = 0
        at = self._print(file, one, one.batches - 1, prints, None)
        file.note(at, prints.rows if prints is not None else 0, self._flags | layout.FLAG_TRAINED)
        file.write_pass(one)

    def _write_given(self):
        if self._current is None:
            return
        one, at = self._current
        if self._flags & layout.FLAG_TRAINED:
            one.graded += 1
        if at:
            self._file.note(at, self._given, self._flags)
        self._current, self._given, self._flags, self._model = None, 0, 0, 0

    def stepped(self, optimizer):
        """An optimizer made a step."""
        key = id(optimizer)
        if key not in self._steps:
            self._groups.stepped(optimizer)
        self._latest_optimizer = self._optimizers.setdefault(key, len(self._optimizers) + 1)
        self._steps[key] = self._steps.get(key, 0) + 1

    def epoch_set(self, sampler, frame):
        """The epoch of a sampler is set."""
        key = id(sampler)
        self._epoch_calls[key] = self._epoch_calls.get(key, 0) + 1
        file = self._attach()
        if file is not None:
            self._epoch_path = file.path_id(batch_file.call_path(frame))

    def _most_steps(self):
        return max(self._steps.values(), default=0)

    def _update(self, one):
        one.steps, one.optimizer = self._most_steps(), self._latest_optimizer

    def _tell_epoch(self, one, sampler):
        one.epoch_now = sampler.epoch if one.flags & layout.FLAG_EPOCH else 0
        one.own = self._epoch_calls.get(id(sampler), 0)
        one.others, one.path = sum(self._epoch_calls.values()) - one.own, self._epoch_path

    @staticmethod
    def _sampler(loader):
        """Returns the sampler whose epoch counts: the loader's own, or the one inside of its batch sampler."""
        for holder in (loader, getattr(loader, "batch_sampler", None)):
            sampler = getattr(holder, "sampler", None)
            if hasattr(sampler, "epoch"):
                return sampler
        batches = getattr(loader, "batch_sampler", None)
        return batches if hasattr(batches, "epoch") else getattr(loader, "sampler", None)

    def _source(self, file, loader, frame):
        known = self.built.get(id(loader))
        path = known[1] if known is not None else batch_file.call_path(frame)
        sampler = self._sampler(loader)
        made = self.built.get(id(sampler))
        line = (path[:4], getattr(loader, "batch_size", None), type(loader.dataset))
        key = line + (self._number_of(line, loader.dataset),)
        facts = facts_of(loader, sampler, known and known[2], made and made[2])
        return file.source(key, layout.KIND_LOADER, path, made[1] if made is not None else (), facts)

    def _number_of(self, line, dataset):
        """Returns which data set of this line it is: one that is made anew for each epoch is the same."""
        known = self._datasets.setdefault(line, [])
        for number, (ident, reference) in enumerate(known):
            if ident == id(dataset) or (reference is not None and reference() is None):
                break
        else:
            number = len(known)
            known.append(None)
        try:
            known[number] = id(dataset), weakref.ref(dataset)
        except TypeError:
            known[number] = id(dataset), None
        return number

    def _attach(self):
        if self._file is None and not self._broken and self._agent.file is not None:
            try:
                self._printer = batch_prints.printer()
                self._file = batch_file.BatchFile(self._agent.file, self._agent.folder)
            except OSError as error:
                self._broken = True
                self._agent.event("no-batches-file", str(error))
        return self._file


def _tensor_of(args, kwargs):
    """Returns the first tensor among the arguments, one level deep."""
    tensor = sys.modules["torch"].Tensor
    for value in args + tuple(kwargs.values()):
        if isinstance(value, tensor):
            return value
        inner = dict.values(value) if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        for one in inner:
            if isinstance(one, tensor):
                return one
    return None


def watch(agent):
    """Wraps loaders, samplers and optimizers when they are imported; returns what is told of outermost modules."""
    recorder = Batches(agent)
    agent.at_fork.append(recorder.forget)
    leave_uncompiled(batch_file, batch_prints, gradient_groups, sys.modules[__name__])
    when_imported(LOADERS, lambda: _watch_loaders(recorder))
    when_imported(SAMPLERS, lambda: _watch_samplers(recorder))
    when_imported(worker_random.FETCH, lambda: worker_random.watch(agent))
    when_imported(OPTIMIZERS, lambda: _watch_optimizers(recorder))

    def given(module, args, kwargs):
        try:
            recorder.given(module, args, kwargs)
        except Exception:
            pass  # nothing is known of this call; the job goes on

    return given


def _watch_loaders(recorder):
    module = sys.modules[LOADERS]
    _before(module.DataLoader, "__init__", lambda args: recorder.remember(args[0], sys._getframe(1)))
    original = module.DataLoader.__iter__

    @functools.wraps(original)
    def __iter__(self):  # noqa: N807
        iterator = original(self)
        try:
            recorder.begin(self, iterator, sys._getframe(1))
        except Exception:
            pass  # nobody sees these batches; the job goes on
        return iterator

    module.DataLoader.__iter__ = __iter__
    _watch_iterator(recorder, module._BaseDataLoaderIter)


def _watch_iterator(recorder, owner):
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
        try:
            batch = next_batch(self)
        except StopIteration:
            try:
                recorder.ended(self)
            except Exception:
                pass  # the pass reads as not ended
            raise
        finally:
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
    compiling = getattr(sys.modules["torch"].compiler, "is_compiling", bool)

    def stepped(optimizer, args, kwargs):
        if compiling():
            return
        try:
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
