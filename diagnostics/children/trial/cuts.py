"""Containers of which only some modules are kept."""

import torch

from ..inspection.refusal import Refusal

LISTS = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)


def cut(container, path, places):
    """Keeps the modules at these places; a ModuleList is numbered anew, since its users count on that."""
    if not isinstance(container, LISTS):
        raise Refusal("%s is a %s: no container that can be cut" % (path or "the model", type(container).__name__))
    items = list(container._modules.items())
    wrong = [place for place in places if not 0 <= place < len(items)]
    if wrong:
        raise Refusal("%s has %d modules, none at place %d" % (path or "the model", len(items), wrong[0]))
    kept = [items[place] for place in sorted(places)]
    container._modules.clear()
    for number, (name, module) in enumerate(kept):
        container._modules[str(number) if isinstance(container, torch.nn.ModuleList) else name] = module
