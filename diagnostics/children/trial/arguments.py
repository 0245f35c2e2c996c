"""Constructor arguments as JSON, so that a text can be written that passes the same ones.

plain values, lists and dicts as they are; else one of
{"tuple": [...]}  {"module": "package.Class#2", or "" for one built elsewhere}  {"name": "package.module:function"}
{"tensor": [2, 3], "dtype": "float32"}  {"dtype": "bfloat16"}  {"object": "package:Config", "attributes": {...}}
{"enum": "package:Kind.NAME"}  {"repr": "..."}
"""

import enum
import functools
import math

import torch

from ..trial_observers.walking import attributes

MAX_DEPTH = 6
MAX_TEXT = 2000


def described(value, built, depth=MAX_DEPTH):
    """Returns an argument; `built(module)` gives the name a module was built as."""
    if value is None or (isinstance(value, (bool, int)) and type(value) in (bool, int)):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"repr": "float(%r)" % str(value)}
    if type(value) is str:
        return value[:MAX_TEXT]
    if not depth:
        return {"repr": repr(value)[:MAX_TEXT]}
    if type(value) is list:
        return [described(item, built, depth - 1) for item in value]
    if type(value) is tuple:
        return {"tuple": [described(item, built, depth - 1) for item in value]}
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {key: described(item, built, depth - 1) for key, item in value.items()}
    if isinstance(value, torch.nn.Module):
        return {"module": built(value)}
    if isinstance(value, torch.Tensor):
        return {"tensor": list(value.shape), "dtype": str(value.dtype)[6:]}
    return _object(value, built, depth)


def _object(value, built, depth):
    if isinstance(value, torch.dtype):
        return {"dtype": str(value)[6:]}
    if isinstance(value, enum.Enum):
        return {"enum": "%s:%s.%s" % (type(value).__module__, type(value).__qualname__, value.name)}
    if isinstance(value, functools.partial):
        called = {"args": list(value.args), **value.keywords}
        return {"partial": described(value.func, built), "arguments": described(called, built, depth - 1)}
    name = getattr(value, "__qualname__", "")
    if name and callable(value):
        return {"name": "%s:%s" % (getattr(value, "__module__", "") or "", name)}
    known = attributes(value)
    if known:
        items = {str(key): described(item, built, depth - 1) for key, item in known.items()}
        return {"object": "%s:%s" % (type(value).__module__, type(value).__qualname__), "attributes": items}
    return {"repr": _text(value)}


def _text(value):
    try:
        return repr(value)[:MAX_TEXT]
    except Exception:  # the user's own __repr__
        return "<%s>" % type(value).__qualname__
