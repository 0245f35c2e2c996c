"""What a process trains on: each batch of its loaders as it is handed over, and what the model is given of it.

Told by `loader_hooks.py`, and of each call of an outermost module. A print is made of what lies on the host by then;
nothing else of a batch is looked at.
"""

from __future__ import annotations

import functools
import opcode
import sys
import weakref

from ..shared import batch_layout as layout
from . import batch_file, batch_prints, gradient_groups
from .loader_facts import facts_of, group_exists

FOR_ITER = opcode.opmap["FOR_ITER"]
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

    def key_of(self, loader, frame):
        """Returns what tells loaders of one line from others: where it was built, else where it is gone over."""
        known = self.built.get(id(loader))
        return (known[1] if known is not None else batch_file.call_path(frame))[:2]

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
        one.made_before = dict(self._steps)
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

    def ended(self, iterator, frame):
        """A loader has no more batches; `frame` asked for one."""
        one, file = vars(iterator).get("_ups_doctor_pass"), self._file
        if one is None or file is None:
            return
        if one.flags & layout.FLAG_ENDED:
            self._spent(one, iterator, frame)
            return
        self._write_given()
        reference = vars(iterator).get("_ups_doctor_sampler")
        sampler = reference() if reference is not None else None
        if sampler is not None:
            self._tell_epoch(one, sampler)
        one.flags |= layout.FLAG_ENDED
        self._update(one)
        file.write_pass(one)

    def _spent(self, one, iterator, frame):
        """An iterator that came to its end is gone over once more. Who asks it by next() may know."""
        code, at = frame.f_code.co_code, frame.f_lasti
        if not 0 <= at < len(code) or code[at] != FOR_ITER:
            return
        count = vars(iterator)["_ups_doctor_spent"] = vars(iterator).get("_ups_doctor_spent", 0) + 1
        if count >= 2 and not count & count - 1:  # at 2, 4, 8 ...
            self._agent.event("loader-spent", "dataset=%s" % type(iterator._dataset).__name__, count, frame)

    def _print(self, file, one, number, prints, indices):
        flags = layout.FLAG_UNREAD if prints is None else layout.FLAG_CONSTANT if prints.constant else 0
        listed = batch_file.print_of(indices)
        if prints is not None:
            one.rows += prints.rows
            one.add_prints(prints)
        if listed:
            one.flags |= layout.FLAG_INDEXED
            one.add_indices(listed)
        self._flags = flags
        return file.add_batch(one, number, prints, indices if listed else None, listed, flags)

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
        rows = tensor.shape[0]
        if self._model == id(module) and type(rows) is int:  # no symbol of an export's
            self._given += rows
            # A wrapper's own training mode says nothing: Lightning sets that of the module inside.
            with_gradients = sys.modules["torch"].is_grad_enabled()
            self._flags |= layout.FLAG_TRAINED if with_gradients else layout.FLAG_EVALUATED

    def _given_input(self, module, args, kwargs):
        """In a job without loaders, the model's own inputs are its batches, as long as they lie on the host."""
        if self._input is None:
            if not group_exists() or not any(True for _ in module.parameters()) or self._attach() is None:
                return
            path = batch_file.call_path(sys._getframe(2))
            source = self._file.source((path, "input"), layout.KIND_INPUT, path, (), "kind=input")
            if source is None:
                return
            self._groups.look(module)
            self._input = id(module), self._file.new_pass(source)
        ident, one = self._input
        file = self._file
        if ident != id(module) or not file.has_room():
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
            if one.batches == 1:  # its iterator may be gone by now, and nobody else writes it
                self._update(one)
                self._file.write_pass(one)
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

    def _update(self, one):
        """Takes the steps of the optimizer that made most of them since the pass began."""
        before = one.made_before
        made = [(count - before.get(key, 0), count) for key, count in self._steps.items()]
        new, one.steps = max(made, default=(0, 0))
        one.first_steps, one.optimizer = one.steps - new, self._latest_optimizer

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
        key = (*line, self._number_of(line, loader.dataset))
        facts = facts_of(loader, sampler, known and known[2], made and made[2], self._agent.timings.loader)
        return file.source(key, layout.KIND_LOADER, path, made[1] if made is not None else (), facts)

    def _number_of(self, line, dataset):
        """Returns which data set of this line it is: one that is made anew for each epoch is the same."""
        known = self._datasets.setdefault(line, [])
        number = next((at for at, kept in enumerate(known) if _is_or_was(kept, dataset)), len(known))
        try:
            reference = weakref.ref(dataset)
        except TypeError:  # a list
            reference = None
        known[number : number + 1] = [(id(dataset), reference)]
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


def _is_or_was(kept, dataset):
    """Whether (id, weak reference) are those of this data set, or of one that is no more."""
    ident, reference = kept
    return ident == id(dataset) or (reference is not None and reference() is None)


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
