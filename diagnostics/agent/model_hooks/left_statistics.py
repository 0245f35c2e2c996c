"""Files that hold all that learnt of a model, and not the statistics that its batch norms counted meanwhile.

Looked at where something is saved: which norms counted on since the first step, whether the file has any of theirs, in
whatever it nests, by memory or by name. A file that lacks something that learnt is one of a part, which is left alone.
"""

from __future__ import annotations

import sys
import weakref

from ..part import Part
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import modules_in, own_frames, walk
from .module_modes import is_norm
from .untrained_states import ENOUGH, WRAPPER, is_copy

MOST_MODELS, MOST_NORMS, MOST_SAVES, MOST_TENSORS, DEEPEST = 16, 256, 60, 100_000, 4
STATISTICS = "running_mean"


class Counting:
    """The norms of one model: what each had counted at the first step."""

    def __init__(self, number, model):
        norms = [(path, one) for path, one, _ in modules_in(model) if is_norm(one)][:MOST_NORMS]
        self.number, self.model, self.told = number, weakref.ref(model), False
        self.norms = [(path, weakref.ref(one), _count(one)) for path, one in norms]

    def moved(self):
        """Returns (path, norm, batches) of those that counted on."""
        found = [(path, gone(), count) for path, gone, count in self.norms]
        counted = [(path, one, _count(one) - count) for path, one, count in found if one is not None]
        return [one for one in counted if one[2] >= ENOUGH]


class LeftStatistics(Part):
    """Of all models of this process."""

    def forget(self):
        """Starts over."""
        self._models, self._held, self._saves = {}, set(), 0  # id of a model -> Counting

    def step(self, optimizer, followed):
        """Notes, at the first step of an optimizer, what it holds and what the norms have counted."""
        if followed.count > 1:
            return
        self._held.update(id(one) for group in optimizer.param_groups for one in group["params"])
        for root in self.marks.roots:
            model = root.inner()
            if root.normalises and model is not None and len(self._models) < MOST_MODELS:
                self._models.setdefault(id(model), Counting(len(self._models), model))

    def saved(self, content, file, frame):
        """Something is written."""
        if not self._models or self.marks.steps < ENOUGH or self._saves >= MOST_SAVES:
            return
        self._saves += 1
        with tensor_samples.unseen():
            self._look(content, file, frame)

    def _look(self, content, file, frame):
        tensors, modules = {}, []
        _collect(content, tensors, modules, DEEPEST)
        inside = {id(one) for each in modules for one in each.modules()}
        places = {_place(one) for one in tensors.values()} - {None}
        for one in list(self._models.values()):
            model, moved = one.model(), one.moved()
            if model is None or not moved:
                continue
            if any(_has(path, norm, tensors, places, inside) for path, norm, _ in moved):
                if one.told:
                    one.told = False
                    self.marks.tell("statistics-kept", model=one.number)
            elif not one.told:
                learning = [(name, each) for name, each, _ in walk(model) if id(each) in self._held]
                if learning and all(_is_in(name, each, tensors, places) for name, each in learning):
                    one.told = True
                    self._tell(one, model, moved, len(learning), file, frame)

    def _tell(self, counting, model, moved, learning, file, frame):
        path, _, batches = max(moved, key=lambda one: one[2])
        own = [each for _, norm, _ in moved for each in norm.parameters(recurse=False)]
        self.marks.tell(
            "statistics-left", model=counting.number, root=type(model).__qualname__, file=file, parts=len(moved),
            part=path, batches=batches, frozen=not any(one.requires_grad or id(one) in self._held for one in own),
            learning=learning, step=self.marks.steps, at=own_frames(frame),
        )  # fmt: skip


def _count(norm):
    """Returns how many batches a norm has counted: where that cannot be read, how often its count was written to."""
    counted = norm.num_batches_tracked
    if counted is None:
        return 0
    if tensor_samples.why_not(counted) or counted.numel() != 1:
        return counted._version
    return int.from_bytes(tensor_samples.bytes_of(counted), sys.byteorder)


def _collect(content, tensors, modules, deepest):
    """Gathers tensors by their names, and modules, of what is written."""
    torch = sys.modules["torch"]
    if not isinstance(content, dict):
        if isinstance(content, torch.nn.Module):
            modules.append(content)
        return
    for name, value in content.items():
        if isinstance(value, torch.Tensor):
            if isinstance(name, str) and len(tensors) < MOST_TENSORS:
                tensors[name[len(WRAPPER) :] if name.startswith(WRAPPER) else name] = value
        elif deepest:
            _collect(value, tensors, modules, deepest - 1)


def _has(path, norm, tensors, places, inside):
    """Whether the statistics of a norm are in a file; a name may be one of a part that holds it."""
    if id(norm) in inside or _place(norm.running_mean) in places:
        return True
    name = "%s.%s" % (path, STATISTICS) if path else STATISTICS
    return any(one == name or one.endswith("." + name) or name.endswith("." + one)
               for one in tensors if one.endswith(STATISTICS))  # fmt: skip


def _is_in(name, parameter, tensors, places):
    if _place(parameter) in places:
        return True
    given = tensors.get(name)
    whole = given is not None and None not in (_place(parameter), _place(given))
    return whole and tensor_samples.local_of(parameter) is parameter and is_copy(parameter, given)


def _place(tensor):
    """Returns where a tensor lies, this rank's own shard of it, None for what has no place of its own."""
    torch, local = sys.modules["torch"], tensor_samples.local_of(tensor)
    if type(local) not in (torch.Tensor, torch.nn.Parameter) or local.layout is not torch.strided:
        return None
    return local.data_ptr() or None
