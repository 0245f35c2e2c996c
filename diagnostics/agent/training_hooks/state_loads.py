"""States of which nothing fitted the model they were loaded into: all names differ, `strict=False` let it pass.

Or the program itself chose what fits, found nothing, and loaded the model's own state back: since all names differ, or
since it looked in the wrong place.
"""

from __future__ import annotations

import sys

from ..imports import when_imported
from ..patching import wrap_method
from ..torch_hooks.loaded_values import LoadedValues, numbers_of
from ..torch_hooks.wrapped_models import own_frames
from .roots import unwrapped

MODULE = "torch.nn.modules.module"
SHOWN = 3
MOST_NAMES, MOST_DEEP, MOST_READ = 4096, 3, 256


class ReadNames:
    """The names of tensors in the file that was read last, and some numbers of each."""

    def __init__(self):
        self.names, self._numbers = (), {}  # name -> (shape, numbers)

    def read(self, content):
        """A file was read."""
        states = [state for state in _states_in(content, MOST_DEEP) if len(state) > 1]
        largest = max(states, key=len, default={})
        self.names = list(largest)
        self._numbers = {name: (one.shape, numbers_of(one)) for name, one in list(largest.items())[:MOST_READ]}

    def missed_by(self, own):
        """Returns the names, if none of them is the model's and most are behind a prefix; else ()."""
        known = frozenset(own)
        if not known or not known.isdisjoint(self.names):
            return ()
        behind = sum(any(part in known for part in _behind_prefixes(name)) for name in self.names)
        return self.names if behind >= max(2, min(len(self.names), len(known)) / 2) else ()

    def left_out_of(self, own):
        """Returns the names that the model has, too, if its own state holds the numbers of none of them; else ()."""
        known = {name: read for name, read in self._numbers.items() if name in own and read[0] == own[name].shape}
        if len(known) < max(2, min(len(self._numbers), len(own)) / 2):
            return ()
        pairs = [(read, numbers_of(own[name])) for name, (_, read) in known.items()]
        told = [read != mine for read, mine in pairs if read is not None and mine is not None and len(set(read)) > 1]
        return list(known) if len(told) > 1 and all(told) else ()


def _states_in(content, deep):
    if not isinstance(content, dict) or not deep:
        return
    tensor, held = sys.modules["torch"].Tensor, list(content.items())[:MOST_NAMES]
    yield {name: one for name, one in held if type(name) is str and isinstance(one, tensor)}
    for _, one in held:
        yield from _states_in(one, deep - 1)


def _behind_prefixes(name):
    while "." in name:
        name = name.partition(".")[2]
        yield name


def watch(marks):
    """Compares what a state held with what the model took."""

    def loads(frame, args, kwargs):
        if not marks.broken:
            state = args[1] if len(args) > 1 else kwargs.get("state_dict")
            own.clear()
            fitting.clear()
            if marks.states.loaded(args[0], state, frame) and not marks.steps:
                own.extend(marks.read_names.missed_by(state))
                fitting.extend(marks.read_names.left_out_of(state))

    def loaded(frame, result, args, kwargs):
        module = unwrapped(args[0])
        state = args[1] if len(args) > 1 else kwargs.get("state_dict")
        missing, unexpected = list(result.missing_keys), list(result.unexpected_keys)
        nothing = bool(missing) and len(unexpected) >= len(state) > 0
        if own and not unexpected:
            nothing, unexpected, missing = True, list(own), list(state)
        elif fitting and not unexpected:
            nothing, unexpected, missing = True, list(fitting), list(fitting)
        marks.loads += not nothing
        if nothing and not marks.broken:
            marks.tell(
                "nothing-loaded", root=type(module).__qualname__, model=id(module), keys=len(unexpected),
                given=unexpected[:SHOWN], wanted=missing[:SHOWN], at=own_frames(frame), step=marks.steps,
                fits=bool(fitting),
            )  # fmt: skip
            refused.add(id(module))
        elif not marks.steps and not marks.broken:
            values.loaded(module, own_frames(frame))
        if not nothing and id(module) in refused:
            refused.discard(id(module))
            marks.tell("something-loaded", model=id(module), step=marks.steps)

    refused, own, fitting, values = set(), [], [], LoadedValues(marks.tell)
    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Module, "load_state_dict", loads, loaded))
