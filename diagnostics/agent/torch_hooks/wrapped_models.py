"""The models and optimizers that a process made, as far as they live: what DDP synchronises, and names of parameters.

Everything is held weakly, and looked at only where a look is due: nothing is called that belongs to the job.
"""

from __future__ import annotations

import functools
import sys
import weakref

from ..frames import is_library
from .naming import WRAPPED_IN

WRAPPER = "torch.nn.parallel.distributed"
OPTIMIZER = "torch.optim.optimizer"
GROUPS = "torch.distributed.distributed_c10d"
MOST_FRAMES = 8
MOST_ROOTS = 32
MOST_STRAYS = 64
MOST_WRAPPERS = 8
MOST_MADE = 64
MOST_LATE = 2048
SHARDED_BY = "FullyShardedDataParallel"


class Wrapped:
    """One DistributedDataParallel: what it synchronises was decided when it was made."""

    def __init__(self, wrapper, frames):
        self.ref, self.frames = weakref.ref(wrapper), frames
        self.synchronised = {id(one) for one in wrapper._module_parameters if one.requires_grad}
        self.known = {id(one) for one in wrapper.module.parameters()}  # also those that were frozen then
        self.ranks = _ranks_of(wrapper.process_group)

    def facts(self, wrapper, called, quiet):
        """Returns what the record has of it now; `called` says where modules were called from outside any other.

        `quiet` are those of them that were only called without gradients: a rollout, an evaluation.
        """
        inner = [id(module) for module in wrapper.module.modules() if called.get(id(module)) is not None]
        inner.sort(key=quiet.__contains__)
        return {
            "class": type(wrapper.module).__qualname__,
            "at": self.frames,
            "ranks": self.ranks,
            "iterations": _iterations(wrapper),
            "ran": bool(getattr(wrapper, "_lazy_init_ran", True)),
            "synchronised": bool(getattr(wrapper, "require_forward_param_sync", True)),  # in its latest forward
            "inner_called": bool(inner),
            "inner_at": called[inner[0]] if inner else [],
            "ignored": len(getattr(wrapper, "parameters_to_ignore", ())),
            "hooks": len(getattr(wrapper, "_comm_hooks", ())),
        }


class Models:
    """All of one process."""

    def __init__(self):
        self.wrappers = []  # Wrapped
        self.made = {}  # id of one of the first optimizers -> where it was made
        self.optimizers = weakref.WeakSet()
        self.activity = None  # told to name what is made from the first optimizer on
        self.late = {}  # id -> weak reference of each module made after the first optimizer
        self.quiet = set()  # ids of modules that were called from outside any other, and never with gradients
        self._names = None
        self._called = {}  # id of a module -> where it was first called from outside any other; None: not since wrapped

    def wrapped(self, wrapper, frames):
        """Notes a new wrapper. What its module did before, a warm start on each rank, went around nothing."""
        self.wrappers.append(Wrapped(wrapper, frames))
        before = [id(module) for module in wrapper.module.modules() if id(module) in self._called]
        self._called.update(dict.fromkeys(before))
        self.quiet.update(before)  # a call with gradients from now on is noted

    def optimizer(self, optimizer, frames):
        """Notes a new optimizer."""
        self.optimizers.add(optimizer)
        if self.activity is not None:
            self.activity.made = self.constructed
        if len(self.made) < MOST_MADE:
            self.made[id(optimizer)] = frames

    def constructed(self, module):
        """Notes a module that is made once there is an optimizer."""
        if len(self.late) < MOST_LATE:
            key = id(module)
            self.late[key] = weakref.ref(module, lambda _: self.late.pop(key, None))

    def made_late(self, parameters):
        """Returns how many of these parameters, by id, are in modules that were made after the first optimizer."""
        modules = [module for module in (one() for one in list(self.late.values())) if module is not None]
        return len(parameters.intersection(id(one) for held in modules for one in _own_parameters(held)))

    def living(self):
        """Returns (Wrapped, wrapper) of those that live."""
        return [(one, wrapper) for one in self.wrappers for wrapper in [one.ref()] if wrapper is not None]

    def wrapper_facts(self):
        """Returns what the record has of the first few wrappers."""
        called = self.called()
        return [one.facts(wrapper, called, self.quiet) for one, wrapper in self.living()[:MOST_WRAPPERS]]

    def called(self):
        """Returns {id of a module that was called from outside any other: where that was first, None before DDP}."""
        return {key: self._called.get(key, []) for key in self._names.walks} if self._names is not None else {}

    def follow(self, names):
        """Has `names`, the agent's naming.Names, tell where a module gets its name as the outermost one."""
        self._names, name_root = names, names.name_root
        with_gradients = sys.modules["torch"].is_grad_enabled

        def noted(root):
            self._called[id(root)] = own_frames(sys._getframe(1))
            (self.quiet.discard if with_gradients() else self.quiet.add)(id(root))
            name_root(root)

        names.name_root = noted

    def called_to_learn(self, module):
        """Notes where a module of `quiet` is first called with gradients: that is the call that a step learns from."""
        self.quiet.discard(id(module))
        self._called[id(module)] = own_frames(sys._getframe(1))

    def parameters(self):
        """Returns {id of a parameter: (name, sharded, itself)} over all models that were called or wrapped.

        Also of modules that a model calls and does not hold, such as those of a plain list: nobody else lists them.
        """
        found = {}
        for root in self.roots():
            for name, parameter, sharded in walk(root):
                found.setdefault(id(parameter), (name, sharded, parameter))
        if self._names is not None:
            for path, stray in self._names.strays(MOST_STRAYS):
                for name, parameter, sharded in walk(stray):
                    found.setdefault(id(parameter), ("%s.%s" % (path, name), sharded, parameter))
        return found

    def roots(self):
        """Returns what was called or wrapped, the largest first: a part that was called by itself has shorter names."""
        roots = [wrapper for _, wrapper in self.living()]
        for key in list(self.called())[:MOST_ROOTS]:
            alive = self._names._alive.get(key)
            root = alive() if alive is not None else None
            if root is not None:
                roots.append(root)
        return sorted(roots, key=lambda root: -sum(1 for _ in root.modules()))


def walk(root):
    """Yields (dotted name, parameter, whether FSDP shards it), wrappers left out of the names."""
    for path, module, sharded in modules_in(root):
        for name, parameter in (module.__dict__.get("_parameters") or {}).items():
            if parameter is not None:
                yield ("%s.%s" % (path, name) if path else name), parameter, sharded


def modules_in(root):
    """Yields (dotted path, module, whether FSDP shards it), each module once, wrappers left out of the paths."""
    seen, waiting = set(), [("", root, False)]
    while waiting:
        path, module, sharded = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        sharded = sharded or type(module).__name__ == SHARDED_BY
        yield path, module, sharded
        skipped = WRAPPED_IN.get(type(module).__name__)
        for name, child in reversed(list((module.__dict__.get("_modules") or {}).items())):
            if child is not None:
                inner = path if name == skipped else "%s.%s" % (path, name) if path else name
                waiting.append((inner, child, sharded))


def _own_parameters(module):
    return [one for one in (module.__dict__.get("_parameters") or {}).values() if one is not None]


def own_frames(frame):
    """Returns [[file, line, function], ...] of the job's frames, innermost first."""
    found = []
    while frame is not None and len(found) < MOST_FRAMES:
        code = frame.f_code
        if not is_library(code.co_filename):
            found.append([code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)])
        frame = frame.f_back
    return found


def _iterations(wrapper):
    """Returns how many forward passes with synchronisation DDP had noted before the latest one, None where unknown."""
    tell = getattr(wrapper, "_get_ddp_logging_data", None)
    return tell().get("iteration") if tell is not None else None


def _ranks_of(group):
    try:
        return list(sys.modules[GROUPS].get_process_group_ranks(group))
    except Exception:
        return []  # a torch that does not tell


def after_init(owner, tell):
    """Has `tell(made, frames)` called after each outermost constructor of `owner`."""
    original = owner.__init__

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):  # noqa: N807
        original(self, *args, **kwargs)
        try:
            tell(self, own_frames(sys._getframe(1)))
        except Exception:
            pass  # nobody saw it; the job goes on

    owner.__init__ = __init__
