"""Tensors that a module keeps from one step to the next together with their graph."""

import ast
import inspect
import textwrap

import torch


def kept_graphs(model):
    """Returns name and line of each buffer or attribute of a module that still has a graph behind it."""
    found = []
    for path, module in model.named_modules():
        for name, value in [*vars(module).items(), *module._buffers.items()]:
            if any(tensor.grad_fn is not None for tensor in _tensors(value)):
                found.append({"name": ".".join(filter(None, (path, name))), "place": assigned(type(module), name)})
    return found[:50]


def _tensors(value):
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return [part for part in parts if isinstance(part, torch.Tensor)]


def assigned(kind, name):
    """Returns "file:line" of the last line in the class's source that gives `self.name` a value, "" if unknown."""
    try:
        lines, first = inspect.getsourcelines(kind)
        tree = ast.parse(textwrap.dedent("".join(lines)))
        file = inspect.getsourcefile(kind)
    except (OSError, TypeError, SyntaxError):
        return ""
    stores = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]
    return "%s:%d" % (file, first - 1 + max(stores)) if stores else ""
