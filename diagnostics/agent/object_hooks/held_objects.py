"""Walks what the frames of the program hold: variables, globals, attributes of its own objects, entries of containers.

No code of the program runs: attributes are taken from where objects keep them. Each object is met once, the nearest
first, and so many in all; nothing is kept.
"""

from __future__ import annotations

import sys
import types
from collections import OrderedDict, defaultdict, deque

from ..frame_values import attributes_of, variables_of
from ..frames import is_library, is_stdlib

MOST_FRAMES = 8
MOST_OBJECTS = 3000
MOST_ENTRIES = 48  # of one container
MOST_DEEP = 5
MOST_KEY = 40  # characters
_own_of = type.__dict__["__dict__"].__get__  # what a class itself defines
_of_type = type.__getattribute__  # a metaclass may have one of its own
_INSTALLED = ("site-packages", "dist-packages")
# Objects of torch's that lead on to those of the program.
_LEADS = ("DataLoader", "Subset", "ConcatDataset", "DistributedSampler", "BatchSampler")
_LEAVES = (int, float, complex, str, bytes, bytearray, bool, type(None), type, types.ModuleType, types.CodeType)


class Held:
    """One object: what the program calls it, by the last name on the way to it, and whose that name is."""

    __slots__ = ("file", "name", "owner", "path", "value")

    def __init__(self, path, name, owner, file, value):
        self.path, self.name, self.owner, self.file, self.value = path, name, owner, file, value


def held_by(frame):
    """Yields what the program's frames from this one outwards hold."""
    waiting, seen, known, count = deque(_roots(frame)), set(), {}, 0
    while waiting and count < MOST_OBJECTS:
        held, deep = waiting.popleft()
        # Of the type alone: isinstance() would ask a proxy for its class, which is code of the program.
        if issubclass(type(held.value), _LEAVES) or id(held.value) in seen:
            continue
        seen.add(id(held.value))
        count += 1
        yield held
        if deep < MOST_DEEP:
            waiting.extend((one, deep + 1) for one in _inside(held, known))


def is_own_file(file):
    """Whether a file is the program's own: neither Python's nor a package's."""
    return bool(file) and not is_library(file) and not any(one in file for one in _INSTALLED)


def _roots(frame):
    taken, frames = set(), 0
    while frame is not None and frames < MOST_FRAMES:
        file = frame.f_code.co_filename
        if is_own_file(file):
            frames += 1
            for name, value in variables_of(frame):
                yield Held(name, name, "", file, value), 0
            if id(frame.f_globals) not in taken:
                taken.add(id(frame.f_globals))
                for name, value in list(frame.f_globals.items()):
                    if type(name) is str and name[:2] != "__":
                        yield Held(name, name, "", file, value), 0
        frame = frame.f_back


def _inside(held, known):
    """Yields what one object holds."""
    value, kind = held.value, type(held.value)
    if kind in (dict, defaultdict, OrderedDict):
        for key, one in _some(value.items()):
            shown = repr(key[:MOST_KEY]) if type(key) is str else "%d" % key if type(key) is int else "..."
            yield Held("%s[%s]" % (held.path, shown), held.name, held.owner, held.file, one)
    elif kind in (list, tuple):
        for number, one in enumerate(value[:MOST_ENTRIES]):
            yield Held("%s[%d]" % (held.path, number), held.name, held.owner, held.file, one)
    elif kind is types.FunctionType:
        yield from _of_function(held, value)
    elif kind is types.MethodType:
        yield Held(held.path, held.name, held.owner, held.file, value.__self__)
    else:
        yield from _of_object(held, value, kind, known)


def _of_function(held, value):
    code = value.__code__
    if not is_own_file(code.co_filename):
        return
    names = code.co_varnames[code.co_argcount - len(value.__defaults__ or ()) : code.co_argcount]
    for name, one in zip(names, value.__defaults__ or ()):  # noqa: B905 - strict is of Python 3.10
        yield Held("%s(%s)" % (held.path, name), name, "", code.co_filename, one)
    for name, cell in zip(code.co_freevars, value.__closure__ or ()):  # noqa: B905 - strict is of Python 3.10
        try:
            one = cell.cell_contents
        except ValueError:
            continue  # not bound yet
        yield Held("%s.%s" % (held.path, name), name, "", code.co_filename, one)


def _of_object(held, value, kind, known):
    if id(kind) not in known:
        known[id(kind)] = _file_of(kind), _of_type(kind, "__name__"), _of_type(kind, "__qualname__")
    file, short, name_of_kind = known[id(kind)]
    attributes = attributes_of(value)
    if not attributes:
        return
    own = is_own_file(file)
    if own or short in _LEADS:
        for name, one in list(attributes.items()):
            if type(name) is not str:
                continue
            yield Held("%s.%s" % (held.path, name), name, name_of_kind, file, one)
    modules = attributes.get("_modules")
    for name, one in list(modules.items()) if type(modules) in (dict, OrderedDict) else ():
        yield Held("%s.%s" % (held.path, name), name, name_of_kind, file, one)
    if own:
        for name, one in list(_own_of(kind).items()):
            if type(one) in (list, dict, deque):
                yield Held("%s.%s" % (name_of_kind, name), name, name_of_kind, file, one)


def _file_of(kind):
    """Returns the file of a class's module, "" where it has none."""
    module = sys.modules.get(_of_type(kind, "__module__"))
    file = getattr(module, "__file__", None)
    return file if type(file) is str and not is_stdlib(file) else ""


def _some(items):
    found = []
    try:
        for one in items:
            if len(found) >= MOST_ENTRIES:
                break
            found.append(one)
    except RuntimeError:  # another thread adds to it
        pass
    return found
