"""Where parameters, buffers and modules were registered: torch calls these hooks during construction."""

from torch.nn.modules import module as torch_module

from .places import here

_registered = {}  # (id of the module, name) -> "file:line"


def watch_registrations():
    """Notes from now on which line of the user's code registers what."""
    for kind in ("parameter", "buffer", "module"):
        register = getattr(torch_module, "register_module_%s_registration_hook" % kind, None)
        if register is not None:  # torch before 2.0 has none: places stay unknown
            register(_note)


def _note(module, name, value):
    if value is not None:
        _registered[id(module), name] = here()


def definition(model, name):
    """Returns the line that made what `model` holds under this dotted name, "" where it is not known."""
    *path, last = name.split(".")
    chain = [(model, path[0] if path else last)]
    for index, part in enumerate(path):
        child = getattr(chain[-1][0], part, None)
        if child is None:
            break
        chain.append((child, path[index + 1] if index + 1 < len(path) else last))
    places = (_registered.get((id(owner), attribute), "") for owner, attribute in reversed(chain))
    return next((place for place in places if place), "")
