"""States that are saved, of a model that is trained, and hold nothing but parameters that no optimizer ever held.

What is saved is told by its names, and by its values or its memory: copies on the way to a file have names of their own
models. Parts that are saved beside what learnt are left alone where anything of the same file did.
"""

from __future__ import annotations

import sys

from ..part import Part
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

ENOUGH = 10  # steps before a save
MOST_SAVES, MOST_HELD, MOST_NAMES = 24, 200_000, 3
SHARE = 1024  # bytes of each tensor that are compared
WRAPPER = "module."


class UntrainedStates(Part):
    """Of all models of this process."""

    def forget(self):
        """Starts over."""
        self._held = {}  # id of what an optimizer that made a step has held -> where that was made
        self._saves = 0

    def step(self, optimizer, followed):
        """Notes what an optimizer holds at its first step."""
        if followed.count <= 1 and len(self._held) < MOST_HELD:
            held = (id(one) for group in optimizer.param_groups for one in group["params"])
            self._held.update(dict.fromkeys(held, self.marks.made_at(optimizer)))

    def saved(self, content, file, frame):
        """A state may be written."""
        state = _state_in(content)
        if state is None or self.marks.steps < ENOUGH or self._saves >= MOST_SAVES:
            return
        self._saves += 1
        held = self.marks.held().union(self._held)
        for parameters in self.marks.parameters_of_roots():
            found = [(parameters.get(name), value) for name, value in state.items()]
            if any(one is None or not is_copy(one, value) for one, value in found):
                continue
            learning = [one for one in parameters.values() if id(one) in held]
            if learning and not any(id(one) in held for one, _ in found):
                self.marks.tell(
                    "saved-untrained", file=file, names=list(state)[:MOST_NAMES], tensors=len(state),
                    learning=len(learning), step=self.marks.steps, at=own_frames(frame),
                    made=self._held.get(id(learning[0]), []),
                )  # fmt: skip
            return


def _state_in(content):
    """Returns the one dictionary of tensors alone in what is saved, by names without a wrapper's; None without one."""
    if not isinstance(content, dict):
        return None
    kind = sys.modules["torch"].Tensor
    several = [one for one in (content, *content.values()) if isinstance(one, dict)]
    states = [one for one in several if len(one) > 1 and all(isinstance(value, kind) for value in one.values())]
    if len(states) != 1 or not all(isinstance(name, str) for name in states[0]):
        return None
    return {name[len(WRAPPER) :] if name.startswith(WRAPPER) else name: value for name, value in states[0].items()}


def is_copy(parameter, value):
    """Whether a tensor is a parameter's, or a copy of what it holds now."""
    if parameter.shape != value.shape:
        return False
    with tensor_samples.unseen():
        if parameter.data_ptr() == value.data_ptr():
            return True
        if parameter.dtype != value.dtype or tensor_samples.why_not(parameter) or tensor_samples.why_not(value):
            return False
        return tensor_samples.print_of(parameter, SHARE) == tensor_samples.print_of(value, SHARE)
