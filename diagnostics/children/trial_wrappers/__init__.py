"""One wrapper a file.

ALIKE                          whether all ranks must hold equal gradients and parameters, whole ones
wrap(model, device, settings)  returns the wrapped model; raises Refusal where it is not to be had
accumulating(wrapped, last)    a context for one of several backward passes before a step; optional
backward(wrapped, loss)        optional
"""

import contextlib
import importlib
import pkgutil

from ..inspection.refusal import Refusal


def load(name):
    """Returns the wrapper's module. Raises Refusal where there is none of this name."""
    known = sorted(found.name for found in pkgutil.iter_modules(__path__))
    if name not in known:
        raise Refusal("no wrapper is named %r" % name, "known: %s" % ", ".join(known))
    module = importlib.import_module("%s.%s" % (__name__, name))
    module.accumulating = getattr(module, "accumulating", lambda wrapped, last: contextlib.nullcontext())
    module.backward = getattr(module, "backward", lambda wrapped, loss: loss.backward())
    return module


def options_of(settings):
    """Returns the wrapper's options as keywords."""
    return dict(settings.get("options", ()))


def no_sync(wrapped, last):
    """Leaves out the reduction of gradients in all backward passes but the last."""
    return contextlib.nullcontext() if last else wrapped.no_sync()
