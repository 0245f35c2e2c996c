"""The modules of a model, as the search for a culprit needs to know them."""

import hashlib

import torch

from ..trial.cuts import LISTS
from . import classes


def nodes(model, name_of, arguments):
    """Returns JSON of ModuleNode for each module as it was built, and what only `journal_tree` reads.

    "alike" is what modules built alike share; one that is "scripted" has no forward that could be replaced.
    `name_of(module)` gives what it was built as, `arguments` those of each constructor.
    """
    paths = {}
    for path, module in model.named_modules(remove_duplicate=False):
        paths.setdefault(id(module), []).append(path)
    return [
        {
            "path": path,
            "also": [other for other in paths[id(module)] if other != path],
            "class_name": type(module).__name__,
            "place": classes.place(type(module)),
            "built_as": name_of(module),
            "parameters": sum(one.numel() for one in module.parameters() if not lazy(one)),
            "container": isinstance(module, LISTS),
            "scripted": isinstance(module, torch.jit.ScriptModule),
            "alike": likeness(module, arguments.get(name_of(module), "")),
        }
        for path, module in model.named_modules()
    ]


def likeness(module, arguments):
    """Returns a name that modules of the same class, construction and parameter shapes share."""
    shapes = [(name, tuple(one.shape)) for name, one in module.named_parameters() if not lazy(one)]
    text = repr((type(module).__module__, type(module).__qualname__, repr(module), shapes, arguments))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def lazy(parameter):
    """Whether a parameter waits for a first forward to get its shape."""
    return isinstance(parameter, getattr(torch.nn.parameter, "UninitializedTensorMixin", ()))
