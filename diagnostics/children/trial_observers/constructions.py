"""Each module that is constructed: its number among those of its class, its arguments, what was open around it."""

import copyreg
import functools
import sys
from contextlib import contextmanager

import torch

from ..trial import arguments
from . import classes

REBUILDING = getattr(copyreg, "__newobj__").__code__  # noqa: B009 - copies are made without a constructor


class Constructions:
    """What was constructed since `watching` began."""

    def __init__(self, skipped, journal):
        self.skipped, self.journal = frozenset(skipped), journal
        self.counts, self.open, self.names, self.arguments = {}, [], {}, {}
        self.not_built, self.patched = [], []
        self.fresh = {}  # id -> an object whose constructor is about to be called

    def made(self, kind, module):
        """Notes an object that has no constructor run yet."""
        if kind not in self.counts:
            self.counts[kind] = 0
            self.patch(kind)
        self.fresh[id(module)] = module

    def patch(self, kind):
        """Has the constructor of this very class pass through here."""
        original = kind.__init__

        @functools.wraps(original)
        def __init__(module, *args, **kwargs):  # noqa: N807
            if type(module) is not kind or self.fresh.pop(id(module), None) is None:
                return original(module, *args, **kwargs)
            return self.construct(original, module, args, kwargs)

        self.patched.append((kind, kind.__dict__.get("__init__")))
        kind.__init__ = __init__

    def construct(self, original, module, args, kwargs):
        """Runs one constructor, or Module's alone where the edits say so."""
        kind = type(module)
        name = "%s.%s#%d" % (kind.__module__, kind.__qualname__, self.counts[kind])
        self.counts[kind] += 1
        self.note(name, module, original, args, kwargs)
        self.open.append(name)
        try:
            if name in self.skipped:
                torch.nn.Module.__init__(module)
                keep(module, self.arguments[name])
                self.not_built.append(module)
            else:
                original(module, *args, **kwargs)
        finally:
            self.open.pop()
        if self.journal is not None:
            self.journal.write(built=name)

    def note(self, name, module, original, args, kwargs):
        """Keeps name and arguments; the module stays alive with them, so that its id stays its own."""
        self.names[id(module)] = (name, module)
        self.arguments[name] = bound(original, module, args, kwargs)
        if self.journal is None:
            return
        built = self.name_of
        self.journal.write(
            building=name,
            class_name=type(module).__name__,
            place=classes.place(type(module)),
            inside=self.open[-1] if self.open else "",
            args=[arguments.described(value, built) for value in args],
            kwargs={key: arguments.described(value, built) for key, value in kwargs.items()},
        )

    def name_of(self, module):
        """Returns "package.module.Class#2", "" for a module that was copied or built elsewhere."""
        return self.names.get(id(module), ("", None))[0]

    def arguments_text(self):
        """Returns the arguments of each constructor as text, by the name its module was built as."""
        named = {
            name: [(key, arguments.described(one, str)) for key, one in given.items()]
            for name, given in self.arguments.items()
        }
        return {name: repr(given) for name, given in named.items()}

    def unpatch(self):
        """Gives the classes their constructors back."""
        for kind, own in self.patched:
            if own is None:
                del kind.__init__
            else:
                kind.__init__ = own


def bound(function, module, args, kwargs):
    """Returns the arguments by the names that the constructor has for them."""
    import inspect

    try:
        found = inspect.signature(function).bind(module, *args, **kwargs)
        found.apply_defaults()
    except (TypeError, ValueError):  # its own error comes when it is called
        return dict(kwargs)
    return dict(list(found.arguments.items())[1:])


def keep(module, given):
    """Sets the arguments as attributes, as constructors mostly do: others may read `block.width`."""
    for key, value in given.items():
        if key.isidentifier() and not hasattr(type(module), key) and key not in vars(module):
            setattr(module, key, value)


@contextmanager
def watching(skipped, journal):
    """Yields the Constructions of what is built within."""
    noted = Constructions(skipped, journal)

    def __new__(cls, *args, **kwargs):  # noqa: N807
        made = object.__new__(cls)
        if sys._getframe(1).f_code is not REBUILDING:
            noted.made(cls, made)
        return made

    def plain(cls, *args, **kwargs):
        return object.__new__(cls)

    # Once set it cannot be deleted: object's own would refuse arguments from then on.
    torch.nn.Module.__new__ = __new__
    try:
        yield noted
    finally:
        torch.nn.Module.__new__ = plain
        noted.unpatch()
