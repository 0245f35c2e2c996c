"""Files that could not be read or written, with the line that asked for it; those that were go to who asks for them."""

from __future__ import annotations

import functools
import sys
import time

from ..imports import when_imported
from ..patching import disguised
from ..shared.redaction import hide
from ..shared.timing_layout import CHECKPOINT

# The function as users know it, the modules where it is found (the first has to be imported), the event's kind,
# and which argument is the file.
FUNCTIONS = (
    ("torch.load", ("torch.serialization", "torch"), "load-failed", 0),
    ("torch.save", ("torch.serialization", "torch"), "save-failed", 1),
    ("numpy.load", ("numpy", "numpy.lib.npyio", "numpy.lib._npyio_impl"), "load-failed", 0),
    ("safetensors.torch.load_file", ("safetensors.torch",), "load-failed", 0),
    ("safetensors.torch.save_file", ("safetensors.torch",), "save-failed", 1),
    ("safetensors.numpy.load_file", ("safetensors.numpy",), "load-failed", 0),
)
MAX_FILE = 400


def watch(agent):
    """Watches the readers and writers of files that training jobs use."""
    for function, modules, kind, position in FUNCTIONS:
        when_imported(modules[0], functools.partial(_watch_function, agent, function, modules, kind, position))
    when_imported("h5py", lambda: _watch_h5py(agent))


def _watch_function(agent, function, modules, kind, position):
    name = function.rpartition(".")[2]
    original = getattr(sys.modules[modules[0]], name)
    wrapped = _told(agent, original, function, kind, position)
    for module in modules:
        if vars(sys.modules.get(module, sys)).get(name) is original:
            setattr(sys.modules[module], name, wrapped)


def _watch_h5py(agent):
    cls = sys.modules["h5py"].File
    cls.__init__ = _told(agent, cls.__init__, "h5py.File", "load-failed", 1)


def _told(agent, original, function, kind, position):
    """Returns `original` with an event where it raises; its argument number `position` is the file."""
    timings = agent.timings if kind == "save-failed" else None

    def call(*args, **kwargs):
        before = -1
        if timings is not None:
            before = timings.enter(CHECKPOINT)
            if not agent.full("checkpoint"):
                agent.event("checkpoint", function, frame=sys._getframe(1))
        began = time.monotonic_ns()
        try:
            result = original(*args, **kwargs)
        except Exception as error:
            _failed(agent, kind, function, file_of(args[position:], kwargs), error, sys._getframe(1))
            raise
        finally:
            if timings is not None:
                timings.leave(before)
        if agent.on_file is not None:
            agent.on_file(function, args, kwargs, result, began, sys._getframe(1))
        return result

    return disguised(call, original)


def file_of(rest, kwargs):
    """Returns the path of the file among these arguments, "<class>" of what has none."""
    named = (kwargs[name] for name in ("f", "file", "name", "filename") if name in kwargs)
    file = rest[0] if rest else next(named, "")
    if hasattr(file, "__fspath__"):
        file = file.__fspath__()
    if not isinstance(file, (str, bytes)):  # an open file
        file = getattr(file, "name", "<%s>" % type(file).__qualname__)
    return file.decode("utf-8", "replace") if isinstance(file, bytes) else str(file)


def _failed(agent, kind, function, file, error, frame):
    try:
        message = "%s: %s" % (type(error).__qualname__, str(error)[:1000])
        text = "function=%s | %s | %s" % (function, hide(file[:MAX_FILE]), hide(message))
        agent.event(kind, text, frame=frame)
    except Exception:
        pass  # an event less; the job gets its exception all the same
