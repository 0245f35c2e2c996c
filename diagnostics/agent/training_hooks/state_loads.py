"""States of which nothing fitted the model they were loaded into: all names differ, `strict=False` let it pass."""

from __future__ import annotations

import sys

from ..imports import when_imported
from ..patching import wrap_method
from ..torch_hooks.wrapped_models import own_frames
from .roots import unwrapped

MODULE = "torch.nn.modules.module"
SHOWN = 3


def watch(marks):
    """Compares what a state held with what the model took."""

    def loads(frame, args, kwargs):
        if not marks.broken:
            marks.states.loaded(args[0], args[1] if len(args) > 1 else kwargs.get("state_dict"), frame)

    def loaded(frame, result, args, kwargs):
        module = unwrapped(args[0])
        state = args[1] if len(args) > 1 else kwargs.get("state_dict")
        missing, unexpected = list(result.missing_keys), list(result.unexpected_keys)
        nothing = bool(missing) and len(unexpected) >= len(state) > 0
        marks.loads += not nothing
        if nothing and not marks.broken:
            marks.tell(
                "nothing-loaded", root=type(module).__qualname__, model=id(module), keys=len(unexpected),
                given=unexpected[:SHOWN], wanted=missing[:SHOWN], at=own_frames(frame), step=marks.steps,
            )  # fmt: skip
            refused.add(id(module))
        elif id(module) in refused:
            refused.discard(id(module))
            marks.tell("something-loaded", model=id(module), step=marks.steps)

    refused = set()
    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Module, "load_state_dict", loads, loaded))
