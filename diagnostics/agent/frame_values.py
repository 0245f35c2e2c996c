"""What the variables of a waiting frame hold: numbers, truth values, None, lengths. No texts; no code of the job runs.

Before Python 3.13 `f_locals` makes a dictionary that the frame keeps, and with it every value: a batch on a GPU would
live until the function returns. So it is emptied again; and where a function keeps its own (it calls `locals()`), or
somebody else holds it, the frame is left alone.
"""

from __future__ import annotations

import itertools
import sys
import types
from collections import deque
from opcode import opmap

from .shared.redaction import is_secret

MAX_VALUES, MAX_NAME = 60, 80
_PLAIN = (bool, int, float, type(None))
_SIZED = (list, tuple, dict, set, frozenset, str, bytes, range, deque)
# What makes a frame keep its dictionary: these functions, and what reaches them or the frame by another name.
_FUNCTIONS = frozenset(("locals", "vars", "eval", "exec"))
_WAYS = frozenset(("builtins", "__builtins__", "_getframe", "currentframe", "f_locals"))
_SHIFT = 1 if sys.version_info >= (3, 11) else 0  # of the index of a global's name
_MOST_CODES = 4096
_known_keepers = {}  # code -> whether it is one, of code that names such a function
_OPTIMIZED = 0x1  # CO_OPTIMIZED: variables lie in slots; of other code they are a dictionary anyway
_KEPT_BY_FRAME_ALONE = 3  # references: the frame's, our name's, and that of the question
_mro = type.__dict__["__mro__"].__get__


def values_of(frame):
    """Returns {"loss": 0.5, "self.stop": True, "len(batches)": 3, "cfg['epochs']": 2} of the names in the code."""
    code, found = frame.f_code, {}
    names = frozenset(code.co_names)
    try:
        _read(found, frame, code, names)
    except Exception:
        return {}  # an object of the job that is not what it seems: the stack alone has to do
    return found


def _read(found, frame, code, names):
    if code.co_flags & _OPTIMIZED:
        if _keeps(code) or frame.f_trace is not None:  # what a debugger sees, it writes back
            return
        _add_all(found, _locals(frame, code), names, code)
    taken = frame.f_globals
    _add_all(found, [(name, taken[name]) for name in code.co_names if name in taken], names, code)


def variables_of(frame):
    """Returns the (name, value) pairs of a frame, none where asking would keep or change them. Let go of them soon."""
    if not frame.f_code.co_flags & _OPTIMIZED:
        return list(frame.f_locals.items())
    if _keeps(frame.f_code) or frame.f_trace is not None:
        return []
    return _locals(frame, frame.f_code)


def span_of(frame):
    """Returns [line, end line, column, end column] of what the frame executes, None where that is not kept."""
    try:
        at = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    except AttributeError:  # before Python 3.11
        return None
    return list(at) if at is not None and None not in at else None


def _keeps(code):
    """Whether code asks for its own variables: `eval(text)` may, `model.eval()` does not."""
    if not _WAYS.isdisjoint(code.co_names):
        return True
    if _FUNCTIONS.isdisjoint(code.co_names):
        return False
    if code not in _known_keepers:
        if len(_known_keepers) >= _MOST_CODES:
            return True
        _known_keepers[code] = _loads_global(code, _FUNCTIONS)
    return _known_keepers[code]


def _loads_global(code, wanted):
    """Whether one of these names is looked up as a global, and not as an attribute: the code's names are of both."""
    places = {place for place, name in enumerate(code.co_names) if name in wanted}
    raw, above = code.co_code, 0
    for at in range(0, len(raw), 2):
        argument = raw[at + 1] | above
        above = argument << 8 if raw[at] == opmap["EXTENDED_ARG"] else 0
        if (raw[at] == opmap["LOAD_GLOBAL"] and argument >> _SHIFT in places) or (
            raw[at] == opmap["LOAD_NAME"] and argument in places
        ):
            return True
    return False


def _locals(frame, code):
    held = frame.f_locals
    if sys.version_info >= (3, 13):  # a view, which keeps nothing
        return list(held.items())
    alone = sys.getrefcount(held) <= _KEPT_BY_FRAME_ALONE
    values = list(held.items())
    if alone:
        held.clear()
    return values if alone else []


def _add_all(found, items, names, code):
    keys = [one for one in code.co_consts if type(one) is str and len(one) < MAX_NAME]
    for name, value in items:
        if type(name) is str and name.isidentifier() and name[:2] != "__" and type(value) is not types.ModuleType:
            _add(found, name, name, value, names, keys, 2)


def _add(found, last, shown, value, names, keys, deeper):
    if len(found) >= MAX_VALUES or len(shown) > MAX_NAME:
        return
    kind = type(value)
    if kind in _PLAIN:
        if not is_secret(last, repr(value)):
            found[shown] = value if _is_number_of_json(value) else repr(value)[:MAX_NAME]
    elif kind in _SIZED:
        found["len(%s)" % shown] = len(value)
        if kind is dict and deeper:
            for key in keys:
                if key in value:
                    _add(found, key, "%s[%r]" % (shown, key), value[key], names, (), 0)
    elif _is_number_on_host(value, kind):
        _add(found, last, shown, value.item(), names, keys, 0)
    elif deeper:
        attributes = attributes_of(value)
        for name in names.intersection(attributes) if attributes else ():
            _add(found, name, "%s.%s" % (shown, name), attributes[name], names, keys, deeper - 1)


def _is_number_of_json(value):
    """Whether JSON can hold it; "nan" and "inf" have no number there, and large ones lose digits."""
    if type(value) is float:
        return value - value == 0
    return type(value) is not int or -(1 << 53) < value < 1 << 53


def _is_number_on_host(value, kind):
    """Whether it is a tensor of one number in ordinary memory: reading it waits for nothing."""
    torch = sys.modules.get("torch")
    if torch is None or kind is not getattr(torch, "Tensor", None):
        return False
    return (
        value.device.type == "cpu" and value.layout is torch.strided and value.numel() == 1 and not value.is_complex()
    )


def attributes_of(value):
    """Returns the dictionary of an object's attributes, without asking code of its class; None where it has none."""
    for kind in _mro(type(value)):
        descriptor = type.__dict__["__dict__"].__get__(kind).get("__dict__")
        if descriptor is not None:
            if type(descriptor) not in (types.GetSetDescriptorType, types.MemberDescriptorType):
                return None
            attributes = descriptor.__get__(value)
            return attributes if type(attributes) is dict else None
    return None
