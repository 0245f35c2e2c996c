"""Which modules a sharding wrapper takes one by one, as a user would: the blocks."""

from torch import nn


def units(model):
    """Returns the items of the outermost containers that have parameters, and share none with the rest.

    A weight that is tied to one outside of its unit would be sharded twice, as no user does.
    """
    owners = {}
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            owners.setdefault(id(parameter), []).append(module)
    return [one for one in items(model) if trains(one) and not shares(one, owners)]


def items(module, listed=False):
    """Yields the items of containers below the module, none inside another; `listed`: the module is a container."""
    for child in module.children():
        if is_called(child) and listed:
            yield child
        else:
            yield from items(child, not is_called(child) or isinstance(child, nn.Sequential))


def is_called(module):
    """Whether the module has a forward, and is no mere list of modules: what is not called is never gathered."""
    return type(module).forward is not nn.Module.forward


def trains(module):
    """Whether the module has a parameter that is trained."""
    return any(one.requires_grad for one in module.parameters())


def shares(module, owners):
    """Whether a parameter of the module is one of another module's too, outside of it."""
    inside = {id(one) for one in module.modules()}
    return any(id(owner) not in inside for one in module.parameters() for owner in owners[id(one)])
