"""Parts of a model, or all of it, that learn in eval mode from the start: whoever made them handed them over so.

Looked at before a few steps only, by walking the model: which modules are in eval mode, whether what is in them learns,
and whether anything in them behaves otherwise then. A choice is left alone: eval() after an optimizer was made, a class
with a `train` of its own, single layers, parts whose statistics were estimated somewhere.
"""

from __future__ import annotations

import sys
import weakref

from ..frames import is_library
from ..imports import when_imported
from ..model_hooks.module_modes import is_modal, is_norm
from ..part import Part, is_due
from ..patching import wrap_method
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

MODULE = "torch.nn.modules.module"
MOST_PLACES = 256
LEAST_MODULES = 3  # in a part: fewer are layers that somebody chose
MOST_TOLD = 2  # parts of one model


class PartModes(Part):
    """Of the models whose forward passes with gradients came before a step."""

    def forget(self):
        """Starts over."""
        self._ran = {}  # id of a root -> Root, those that ran with gradients since the latest step
        self._places = {}  # id of a module -> (weak reference, frames of eval(), whether a library called it)
        self._chosen = set()  # ids of modules that were put into eval mode once there was an optimizer

    def forward(self, module, root):
        """Notes which models learn."""
        if root.modal and root.key not in self._ran and sys.modules["torch"].is_grad_enabled():
            self._ran[root.key] = root

    def step(self, optimizer, followed):
        """Looks at them, where that is due."""
        if is_due(followed.count):
            held = {id(one) for group in optimizer.param_groups for one in group["params"] if one.grad is not None}
            for root in self._ran.values():
                inner = root.inner()
                if inner is not None and held:
                    self._look(inner, held, followed)
        self._ran.clear()

    def evaluating(self, module, frame):
        """eval() is called on a module; `frame` is the caller's."""
        key = id(module)
        if self.marks.steps or self.marks.has_optimizer():
            self._chosen.add(key)  # for a training that goes on: somebody wants it so
        elif len(self._places) < MOST_PLACES or key in self._places:
            gone = weakref.ref(module, lambda _: self._places.pop(key, None))
            self._places[key] = gone, own_frames(frame), _is_of_package(frame.f_code.co_filename)

    def _look(self, inner, held, followed):
        found = list(_topmost_in_eval("", inner))[: MOST_TOLD + 1]
        if len(found) > MOST_TOLD:
            return  # layers here and there, which somebody went through
        for path, part in found:
            # A library's class may have an `eval` of its own: then nobody knows who called it.
            _, evaluating, library = self._places.get(id(part), (None, [], None))
            if id(part) in self._chosen or (part is inner and library is False) or not _matters(part):
                continue  # a whole model that its own program put into eval mode is one that it wants so
            learning = [one for one in part.parameters() if id(one) in held]
            if 2 * len(learning) > sum(1 for _ in part.parameters()):
                self.marks.tell(
                    "part-in-eval", optimizer=followed.index, step=followed.count, root=type(inner).__qualname__,
                    part=path, part_class=type(part).__qualname__, module=_first_modal(part), learning=len(learning),
                    library=library, eval_at=evaluating, at=own_frames(sys._getframe(1)),
                )  # fmt: skip


def _topmost_in_eval(path, module):
    """Yields (path, module) of those in eval mode whose parents are not; not below a `train` of the user's own."""
    code = getattr(type(module).train, "__code__", None)
    if code is None or not _is_of_package(code.co_filename):
        return
    if not module.training:
        yield path, module
        return
    for name, child in module.named_children():
        yield from _topmost_in_eval("%s.%s" % (path, name) if path else name, child)


def _is_of_package(filename):
    """Whether nobody wrote this file for the job."""
    return is_library(filename) or "site-packages" in filename or "dist-packages" in filename


def _matters(part):
    """Whether all of a composite part is in eval mode, and it drops something or has no statistics yet."""
    modules = list(part.modules())
    if len(modules) < LEAST_MODULES or any(one.training for one in modules):
        return False
    return any(_is_untrained_norm(one) if is_norm(one) else is_modal(one) for one in modules)


def _is_untrained_norm(module):
    seen = getattr(module, "num_batches_tracked", None)
    return seen is not None and tensor_samples.why_not(seen) == "" and _integer(seen) == 0


def _integer(tensor):
    return int.from_bytes(tensor_samples.bytes_of(tensor), sys.byteorder)


def _first_modal(part):
    found = ((name, type(one).__qualname__) for name, one in part.named_modules() if is_modal(one))
    return "%s (%s)" % next(found, ("", ""))


def watch(parts):
    """Wraps Module.eval, which wrappers and models inherit."""

    def evaluating(frame, args, kwargs):
        parts.evaluating(args[0], frame)

    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Module, "eval", before=evaluating))
