"""Stands in for functions of the interpreter without being noticed: no bound method, same pickle, same name."""

from __future__ import annotations

import sys

PLACE = "<frozen importlib._bootstrap, ups-doctor>"  # of what stands in: warnings skip frames of the import system


class Watched:
    """A built-in function that is told of. No function: as a class attribute it must not bind, as built-ins do not."""

    def __init__(self, original, before, after):
        self.__wrapped__, self._before, self._after = original, before, after
        self.__name__, self.__qualname__ = original.__name__, original.__qualname__
        self.__module__, self.__doc__ = original.__module__, original.__doc__

    def __call__(self, *args, **kwargs):
        """Calls the built-in."""
        if self._before is not None:
            try:
                self._before(sys._getframe(1), args, kwargs)
            except Exception:
                pass  # an event less; the job goes on
        result = self.__wrapped__(*args, **kwargs)
        if self._after is not None:
            try:
                self._after(sys._getframe(1), result, args, kwargs)
            except Exception:
                pass  # an event less; the job goes on
        return result

    def __reduce__(self):
        return self.__qualname__  # pickled by reference, as the built-in is

    def __repr__(self):
        return repr(self.__wrapped__)

    def __getattr__(self, name):
        if name == "__wrapped__":  # not made yet
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)


def replace(owner, name, before=None, after=None):
    """Puts a Watched in the place of `owner.name`, also in the module it says it is from."""
    original = getattr(owner, name, None)
    if original is None:
        return
    watched = Watched(original, before, after)
    for module in (owner, sys.modules.get(original.__module__)):
        if getattr(module, name, None) is original:
            setattr(module, name, watched)


def _caller(frame):
    """Returns the frame that called, past what else stands in for the same function."""
    while frame is not None and frame.f_code.co_filename == PLACE:
        frame = frame.f_back
    return frame


def wrap_method(owner, name, before=None, after=None):
    """Replaces the method `owner.name`; `before` and `after` get the caller's frame and the arguments with self."""
    original = owner.__dict__.get(name)
    if original is None:
        return

    def call(*args, **kwargs):
        if before is not None:
            try:
                before(_caller(sys._getframe(1)), args, kwargs)
            except Exception:
                pass  # an event less; the job goes on
        result = original(*args, **kwargs)
        if after is not None:
            try:
                after(_caller(sys._getframe(1)), result, args, kwargs)
            except Exception:
                pass  # an event less; the job goes on
        return result

    setattr(owner, name, disguised(call, original))


def stand_in(original, after):
    """Returns what stands in for a function of torch's: `after` gets the caller's frame, the result, the arguments."""

    def call(*args, **kwargs):
        result = original(*args, **kwargs)
        try:
            after(sys._getframe(1), result, args, kwargs)
        except Exception:
            pass  # a call that nobody saw; the job goes on
        return result

    wrapper = disguised(call, original)
    wrapper._torchdynamo_inline = original  # what torch.compile looks at in its place: it compiles as it did
    return wrapper


def disguised(wrapper, original):
    """Returns `wrapper` with the name, signature and place of `original`, skipped by the stacklevel of warnings."""
    # The code of warnings skips frames of the import system; a warning must name the line it named before.
    code = wrapper.__code__
    wrapper.__code__ = code.replace(co_filename=PLACE, co_name=original.__name__)
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(wrapper, name, getattr(original, name, None))
    wrapper.__dict__.update(getattr(original, "__dict__", {}))
    wrapper.__wrapped__ = original
    return wrapper
