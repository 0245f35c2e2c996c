"""Dropout that is called without `training`, which is True by default: it goes on where the model is evaluated.

Told where one call of the program's own ran while gradients were recorded, and later without, below a method of a
module in eval mode. Attention that is given a chance to drop is looked at in a few such passes only: torch's function
is a built-in, which nothing stands in for unseen.
"""

from __future__ import annotations

import sys

from ..frames import is_library
from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames
from .heard_functions import MODULE, hear

FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d")
ATTENTION = "scaled_dot_product_attention"
FIRST = 2  # calls, passes
ENOUGH = 10  # steps: fewer are a trial
MOST_SITES = 64
MOST_DEEP = 8  # frames between the call and a method of a module
_CHANCE, _TRAINING, _ATTENTION_CHANCE = 1, 2, 4  # places of arguments


class ForcedDropouts(Part):
    """Of all calls of this process."""

    def forget(self):
        """Starts over."""
        self._trained = set()  # (code, line) of calls while gradients were recorded
        self._sites = {}  # (code, line) -> calls in evaluation
        self._passes, self._original = 0, None

    def called(self, frame, args, kwargs):
        """Dropout is called; most calls say whether they are of a training."""
        if len(args) > _TRAINING or "training" in kwargs:
            return
        site = frame.f_code, frame.f_lineno
        if sys.modules["torch"].is_grad_enabled():
            if site not in self._trained and len(self._trained) < MOST_SITES:
                self._trained.add(site)
        elif site in self._trained:
            chance = args[_CHANCE] if len(args) > _CHANCE else kwargs.get("p", 0.5)
            self._evaluates(site, frame, chance, "dropout")

    def forward(self, module, root):
        """Opens a look at attention in a few passes of a model in eval mode."""
        if self._original is not None:
            self._close()
        inner = root.inner()
        if inner is None or inner.training or self.marks.steps < ENOUGH or sys.modules["torch"].is_grad_enabled():
            return
        self._passes += 1
        if is_due(self._passes, FIRST) and not _compiles(module):
            self._open()

    def step(self, optimizer, followed):
        """Ends the look."""
        if self._original is not None:
            self._close()

    def _open(self):
        module = sys.modules[MODULE]
        self._original = original = getattr(module, ATTENTION, None)
        if original is None:
            return

        def attention(*args, **kwargs):
            try:
                chance = args[_ATTENTION_CHANCE] if len(args) > _ATTENTION_CHANCE else kwargs.get("dropout_p", 0.0)
                frame = sys._getframe(1)
                if not sys.modules["torch"].is_grad_enabled():
                    self._evaluates((frame.f_code, frame.f_lineno), frame, chance, ATTENTION)
            except Exception:
                pass  # a call that nobody saw; the job goes on
            return original(*args, **kwargs)

        self._standing_in = attention
        setattr(module, ATTENTION, attention)

    def _close(self):
        module = sys.modules[MODULE]
        if getattr(module, ATTENTION, None) is self._standing_in:
            setattr(module, ATTENTION, self._original)
        self._original = self._standing_in = None

    def _evaluates(self, site, frame, chance, function):
        """Counts a call that drops without gradients, where the module it is in evaluates."""
        if not chance or self.marks.broken or self.marks.steps < ENOUGH or is_library(frame.f_code.co_filename):
            return
        module = _module_of(frame)
        if module is None or module.training or (site not in self._sites and len(self._sites) >= MOST_SITES):
            return
        count = self._sites[site] = self._sites.get(site, 0) + 1
        if is_due(count, FIRST):
            self.marks.tell(
                "dropout-in-eval", function=function, module=type(module).__qualname__, run=count,
                step=self.marks.steps, at=own_frames(frame),
            )  # fmt: skip


def _module_of(frame):
    """Returns the innermost module in a method of which this is called, None without one."""
    kind = sys.modules["torch"].nn.Module
    for _ in range(MOST_DEEP):
        if frame is None:
            return None
        code = frame.f_code
        if code.co_argcount and code.co_varnames[0] == "self":
            found = frame.f_locals.get("self")
            if isinstance(found, kind):
                return found
        frame = frame.f_back
    return None


def _compiles(module):
    """Whether torch.compile made anything here, or will: it would compile again for another function in this place."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None) or {}
    if any(bool(one) for one in counters.values()):
        return True
    return any(
        type(one).__name__ == "OptimizedModule" or vars(one).get("_compiled_call_impl") is not None
        for one in module.modules()
    )


def watch(dropouts):
    """Is told of each call."""
    for name in FUNCTIONS:
        hear(name, dropouts.called)
