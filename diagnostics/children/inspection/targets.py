"""From `module:factory` and `module:make_batch` to a model and its batches."""

import difflib
import importlib
import importlib.util
import inspect
import os
import sys
from pathlib import Path

import torch

from .refusal import Refusal

NEEDED = "which returns a tensor, a tuple (args) or a dict (keywords)"


def load(spec):
    """Returns the object named `module:name` or `path/to/file.py:name`."""
    where, _, name = spec.rpartition(":")
    module = _file(where, spec) if where.endswith(".py") else _module(where, spec)
    value = module
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            own = [known for known, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]
            near = difflib.get_close_matches(part, own, n=1)
            hint = (
                "did you mean %s:%s?" % (where, near[0]) if near else "it has: %s" % (", ".join(own[:8]) or "nothing")
            )
            raise Refusal("%s: %s has no '%s'" % (spec, where, part), hint) from None
    return value


def _module(name, spec):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Another module that is missing is the fault of the code that imports it.
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            hint = "looked for from %s; or name the file: path/to/file.py:name" % Path.cwd()
            raise Refusal("%s: no module named '%s'" % (spec, error.name), hint) from None
        raise failed("%s: importing %s" % (spec, name), error) from error
    except (Exception, SystemExit) as error:
        raise failed("%s: importing %s" % (spec, name), error) from error


def _file(path, spec):
    if not Path(path).is_file():
        raise Refusal("%s: no such file: %s" % (spec, path), "check the spelling: ls -l %s" % path)
    sys.path.insert(0, str(Path(path).absolute().parent))  # as `python path/to/file.py` does
    name = Path(path).stem
    found = importlib.util.spec_from_file_location(name, str(Path(path).absolute()))
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise failed("%s: importing %s" % (spec, path), error) from error
    return module


def failed(what, error):
    """Returns the refusal where a function or a file of the user's raised: what, and at which line."""
    from .places import of_traceback

    place = of_traceback(error.__traceback__)[0]
    at = " at %s" % shown(place) if place else ""
    hint = 'keep what runs out of the import: if __name__ == "__main__": main()' if _runs(what, error) else ""
    return Refusal("%s raised %s%s: %s" % (what, type(error).__name__, at, first_line(error)), hint, cause=error)


def _runs(what, error):
    """Whether importing a file ran its program, which found our command line and left."""
    return isinstance(error, SystemExit) and ": importing " in what


def first_line(error):
    """Returns the first line of an exception's text."""
    return (str(error).splitlines() or ["(without a text)"])[0]


def shown(place):
    """Returns "file:line" relative to the working directory where it lies below it."""
    inside = str(Path.cwd()) + os.sep
    return place[len(inside) :] if place.startswith(inside) else place


def build(spec):
    """Returns the model that the factory makes."""
    factory = load(spec)
    if isinstance(factory, torch.nn.Module):
        return factory
    if not callable(factory):
        raise Refusal("%s is a %s, no factory of a model" % (spec, type(factory).__name__))
    missing = required(factory)
    if missing:
        hint = "name a function without arguments: def make(): return %s(...)" % spec.rpartition(":")[2]
        raise Refusal("%s needs arguments (%s)" % (spec, ", ".join(missing)), hint)
    try:
        model = factory()
    except (Exception, SystemExit) as error:
        raise failed(spec, error) from error
    if not isinstance(model, torch.nn.Module):
        raise Refusal("%s returned a %s, not a torch.nn.Module" % (spec, type(model).__name__))
    return model


def required(function):
    """Returns the names of the arguments that a call cannot leave out."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled code may not tell
        return []
    fixed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one.name for one in parameters if one.default is one.empty and one.kind not in fixed]


def batches(spec, model, name):
    """Returns a function that gives the next batch each time; raises Refusal where the model needs inputs."""
    if not spec:
        missing = required(model.forward)
        if missing:
            hint = "add --inputs module:make_batch, %s" % NEEDED
            raise Refusal("%s.forward takes (%s)" % (name, ", ".join(missing)), hint)
        return tuple
    source = load(spec)
    if callable(source) and not isinstance(source, torch.utils.data.DataLoader):
        missing = required(source)
        if missing:
            raise Refusal("%s needs arguments (%s)" % (spec, ", ".join(missing)), "name a function without arguments")
        first = guarded(spec, source)
        if not hasattr(first, "__next__"):
            return _then(first, lambda: guarded(spec, source))
        source = first  # a generator
    if isinstance(source, (torch.Tensor, tuple, dict)):
        return lambda: source
    if not hasattr(source, "__iter__"):
        raise Refusal("%s is a %s" % (spec, type(source).__name__), "name a function, %s" % NEEDED)
    return cycling(spec, source)


def guarded(spec, function):
    """Calls the user's function; what it raises becomes a Refusal."""
    try:
        return function()
    except Exception as error:
        raise failed(spec, error) from error


def _then(first, more):
    left = [first]
    return lambda: left.pop() if left else more()


def cycling(spec, source):
    """Returns a function that gives the next item, and at the end the last one again."""
    state = {"iterator": iter(source), "last": None}

    def following():
        state["last"] = guarded(spec, lambda: next(state["iterator"], state["last"]))
        if state["last"] is None:
            raise Refusal("%s has no batch" % spec)
        return state["last"]

    return following


def as_call(model, batch):
    """Returns the positional and keyword arguments that hand `batch` to the model."""
    if isinstance(batch, dict):
        return ((), dict(batch)) if _fits(model.forward, batch) else ((batch,), {})
    if isinstance(batch, (tuple, list)):
        return tuple(batch), {}
    return (batch,), {}


def _fits(function, keywords):
    try:
        inspect.signature(function).bind(**keywords)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def check_call(model, name, args, kwargs):
    """Raises Refusal where forward cannot take these arguments at all."""
    try:
        inspect.signature(model.forward).bind(*args, **kwargs)
    except TypeError as error:
        given = ["%d positional" % len(args)] if args else []
        given += sorted(kwargs)
        text = "the inputs do not fit %s.forward%s: %s"
        message = text % (name, inspect.signature(model.forward), error)
        hint = "given: %s; --inputs names a function, %s" % (", ".join(given) or "nothing", NEEDED)
        raise Refusal(message, hint) from None
    except ValueError:
        return
