"""How far a script's run came with its model, and what of it was written down by then."""

from __future__ import annotations

import os
import sys
import weakref
from _thread import get_ident

from .callers import constructors_above, forward_method, method_holder, unwrapped
from .following import Following
from .writing import Writer, tree_of

CAPTURED_EXIT = 86  # of a process that was ended since everything is captured

# How surely a module that is called is the one that is trained.
ANY, TRAINABLE, TRAINED = 1, 2, 3
NO_MODELS = ("torch.nn.parallel.", "torch.distributed.", "torch._dynamo.", "torch.optim.", "torch.nn.modules.loss")


class Record:
    """One module that no other module's constructor made: what it was made of."""

    def __init__(self, made, args, kwargs):
        self.parts = (type(made), args, kwargs)
        self.packed = None  # of its parts, as they were before its constructor ran
        self.problem = ""  # why there is none


class Capture:
    """What is known of this process's models."""

    def __init__(self, folder, limit):
        self.folder, self.limit = folder, limit
        self.seen = {"wrapper": "", "options": {}, "compile": False}
        self.wrappers = {}  # id(module) -> how that one is wrapped
        self.records = {}  # id(module) -> Record
        self.alive = {}  # id(module) -> weak reference that removes the record
        self.codes = set()  # of constructors of modules
        self.wrapped_first = None  # what was handed to the first wrapper: weak reference
        self.instance = self.tree = None  # how it was then
        self.trained = set()  # ids of what optimizers hold
        self.parameters = []  # keeps these alive, so that the ids stay theirs
        self.level = 0
        self.following = None  # the later calls of the model that is trained
        self.depth = {}  # of open calls, by thread
        self.writer = Writer(folder, limit)

    def forked(self):
        """In a forked child: what comes now is its own."""
        self.level, self.depth, self.following = 0, {}, None
        self.writer = Writer(self.folder, self.limit)

    def enter(self):
        """A module's call begins; returns whether none is open in this thread."""
        ident = get_ident()
        self.depth[ident] = self.depth.get(ident, 0) + 1
        return self.depth[ident] == 1

    def leave(self):
        """A module's call has ended."""
        self.depth[get_ident()] -= 1

    def constructing(self, made, args, kwargs, frame):
        """A module exists, and its constructor comes next."""
        cls = type(made)
        inside = constructors_above(frame, self.codes)
        init = cls.__init__
        if getattr(init, "__code__", None) is not None:
            self.codes.add(getattr(init, "_ups_doctor_code", init.__code__))
        if inside or cls.__module__.startswith(NO_MODELS):
            return
        record = Record(made, args, kwargs)
        key = id(made)
        self.records[key] = record
        self.alive[key] = weakref.ref(made, lambda _: (self.records.pop(key, None), self.alive.pop(key, None)))
        record.packed, record.problem = self.writer.packed_arguments(record, self.records)
        self.writer.write("construct", made, record, None, {"open": True})
        _tell_end(cls, self)

    def constructed(self, made, error):
        """The constructor of a module has ended, or `error` came out of it."""
        if id(made) in self.records and error is None:
            self.writer.update("construct", {"open": False})

    def wrapping(self, module, kind, options):
        """A wrapper is handed a module."""
        root = self._outermost(module)
        self.seen["wrapper"] = self.seen["wrapper"] or kind
        self.seen["options"] = self.seen["options"] or options
        self.wrappers.setdefault(id(root), {"wrapper": kind, "options": options})
        known = self.wrapped_first() if self.wrapped_first is not None else None
        if known is not None and (known is root or any(one is root for one in known.modules())):
            return
        if known is not None and len(list(known.modules())) >= len(list(root.modules())):
            return
        self.wrapped_first = weakref.ref(root)
        self.instance = self.writer.packed_instance(root)
        self.tree = tree_of(root)
        more = {"open": True, "tree": self.tree, "seen": self.seen}
        self.writer.write("wrap", root, self.records.get(id(root)), self.instance, more)

    def wrapped(self):
        """The wrapper has what it was handed."""
        self.writer.update("wrap", {"open": False})

    def optimizing(self, optimizer):
        """An optimizer holds its parameters."""
        for group in optimizer.param_groups:
            self.parameters.extend(group["params"])
            self.trained.update(id(one) for one in group["params"])

    def calling(self, module, args, kwargs, frame):
        """A module is called, and no other one is."""
        import torch

        if not torch.is_grad_enabled() or constructors_above(frame, self.codes):
            return
        root = unwrapped(module)
        method = forward_method(root)
        held = method_holder(root, frame)
        if held is not None:
            root, method, args, kwargs = held
        if self.following is not None:
            if self.following.root() is root:
                self.following.again(args, kwargs)
            return
        level = self._level_of(root)
        if level <= self.level:
            return
        wrapped = self.wrapped_first() if self.wrapped_first is not None else None
        if wrapped is None or wrapped is not root:
            self.instance = self.writer.packed_instance(root)
            self.tree = tree_of(root)
        seen = {**self.seen, **self.wrappers.get(id(root), {}), **_settings(root, torch)}
        more = {"tree": self.tree, "method": method, "sure": level, "seen": seen, "notes": self._others(root)}
        if self.writer.write("call", root, self.records.get(id(root)), self.instance, more, (args, kwargs)):
            self.level = level
            if level == TRAINED:
                self.following = Following(root, self.writer.write_call, self.finish)
                self.following.begin(frame)

    def backward(self):
        """A backward pass begins: what was called is trained, whatever we know of optimizers."""
        if self.level:
            self.finish()

    def saving(self):
        """A file is written: of a model that was never trained, maybe over one that was."""
        if self.following is not None:
            self.following.end()

    def finish(self):
        """Ends this process; its handlers are not run, since they may write a checkpoint over a good one."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass  # nobody reads it
        os._exit(CAPTURED_EXIT)

    def _level_of(self, root):
        parameters = list(root.parameters())
        if not root.training:
            return ANY
        wrapped = self.wrapped_first() if self.wrapped_first is not None else None
        if wrapped is root or any(id(one) in self.trained for one in parameters):
            return TRAINED
        trainable = any(one.requires_grad for one in parameters)
        return TRAINABLE if trainable and not self.trained else ANY

    def _outermost(self, module):
        """Returns the largest module that is known to hold this one."""
        best, size = module, len(list(module.modules()))
        for reference in list(self.alive.values()):
            other = reference()
            if other is None or other is module:
                continue
            inside = list(other.modules())
            if len(inside) > size and any(one is module for one in inside):
                best, size = other, len(inside)
        return best

    def _others(self, root):
        """Returns a note on what the script trains beside this model."""
        own = {id(one) for one in root.parameters()}
        others = sum(1 for one in self.parameters if id(one) not in own and one.requires_grad)
        if not others or not any(id(one) in own for one in self.parameters):
            return []
        text = "the script's optimizers hold %d parameters that are not part of %s: its other models were left out"
        return [text % (others, type(root).__name__)]


def _tell_end(cls, capture):
    """Has the class's constructor say when it ends. The interpreter looks it up after __new__."""
    init = cls.__init__
    if hasattr(init, "_ups_doctor_code") or not hasattr(init, "__code__"):
        return
    import functools

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):  # noqa: N807
        try:
            init(self, *args, **kwargs)
        except BaseException as error:
            capture.constructed(self, error)
            raise
        if type(self) is cls:
            capture.constructed(self, None)

    __init__._ups_doctor_code = init.__code__
    cls.__init__ = __init__


def _settings(root, torch):
    """Returns under which settings the script runs its model."""
    first = next(root.parameters(), None)
    device = first.device.type if first is not None else "cpu"
    groups = torch.distributed.is_available() and torch.distributed.is_initialized()
    return {
        "device": device,
        "amp": _amp(device, torch),
        "backend": str(torch.distributed.get_backend()) if groups else "",
        "world": torch.distributed.get_world_size() if groups else 1,
        "threads": torch.get_num_threads(),
    }


def _amp(device, torch):
    try:
        on = torch.is_autocast_enabled(device)
        dtype = torch.get_autocast_dtype(device) if on else None
    except (TypeError, AttributeError):  # torch before 2.4
        on = torch.is_autocast_cpu_enabled() if device == "cpu" else torch.is_autocast_enabled()
        dtype = (torch.get_autocast_cpu_dtype() if device == "cpu" else torch.get_autocast_gpu_dtype()) if on else None
    return str(dtype).partition(".")[2] if on else ""
