"""Which part of a value cannot be pickled, in words."""

from __future__ import annotations

import os
import types

DEEPEST = 6
MOST = 500  # parts looked at on one level
LEAST_KINDS = (str, bytes, int, float, complex, bool, type(None))


def said(named, error, pack):
    """Returns "argument `act` of Net is a lambda (train.py:31)": the innermost part that `pack` refuses."""
    for name, value in named.items():
        why = _refused(value, pack)
        if why is not None:
            return _innermost(name, value, why, pack, 0)
    return "it cannot be pickled: %s" % _first_line(error)


def _refused(value, pack):
    try:
        pack(value)
    except Exception as error:
        return error
    return None


def _innermost(name, value, error, pack, depth):
    if depth < DEEPEST:
        for suffix, part in _parts(value):
            why = _refused(part, pack)
            if why is not None:
                return _innermost(name + suffix, part, why, pack, depth + 1)
    what = described(value) or "a %s: %s" % (_kind(value), _first_line(error))
    return "%s is %s" % (name.lstrip(".") or "the model", what)


def _parts(value):
    if isinstance(value, (*LEAST_KINDS, type, types.FunctionType)):
        return []
    if isinstance(value, dict):
        return [("[%.60r]" % (key,), one) for key, one in list(value.items())[:MOST]]
    if isinstance(value, (list, tuple)):
        return [("[%d]" % at, one) for at, one in enumerate(value[:MOST])]
    if isinstance(value, types.MethodType):
        return [(".__self__", value.__self__)]
    state = getattr(value, "__dict__", {})
    modules = list((state.get("_modules") or {}).items()) if "_parameters" in state else []
    return [("." + name, one) for name, one in [*modules, *list(state.items())[:MOST]] if name != "_modules"]


def described(value):
    """Returns what is known to be unpicklable about a value, "" where nothing is."""
    if isinstance(value, types.FunctionType):
        what = "a lambda" if value.__name__ == "<lambda>" else "the function %s" % value.__name__
        return "%s%s (%s)" % (what, _inside(value), _place(value.__code__))
    if isinstance(value, type):
        init = getattr(value.__init__, "_ups_doctor_code", None) or getattr(value.__init__, "__code__", None)
        return "defined%s%s" % (
            _inside(value) or " where pickle cannot find it",
            " (%s)" % _place(init) if init else "",
        )
    if isinstance(value, types.GeneratorType):
        return "a generator (%s)" % _place(value.gi_code)
    return ""


def _inside(value):
    outer, local, _ = value.__qualname__.rpartition(".<locals>.")
    return " inside %s" % outer.rpartition(".")[2] if local else ""


def _place(code):
    return "%s:%d" % (os.path.basename(code.co_filename), code.co_firstlineno)


def _kind(value):
    return "%s.%s" % (type(value).__module__, type(value).__qualname__)


def _first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0]
