"""Gradients that are clipped while they are multiplied by the loss scale: after backward() and before unscale_().

The limit then holds for gradients that are some ten thousand times too large, and each step is as much too small.
A limit that was multiplied by the scale, too, is not far below it. And gradients that are clipped after the step: no
step uses what is left of them.
"""

from __future__ import annotations

import sys
from math import isfinite

from ..imports import when_imported
from ..part import Part, is_due
from ..patching import stand_in, wrap_method
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

MODULE, SCALERS = "torch.nn.utils", "torch.amp.grad_scaler"
LIMITS = {"clip_grad_norm_": "max_norm", "clip_grad_value_": "clip_value"}
LEAST = 1000  # times the limit, which is what the scale is at least
MOST_LIMIT = 1e4  # above, it is a way to ask for the norm


class ClippedGradients(Part):
    """The latest clipping since a backward pass, and how often it came before unscale_()."""

    def forget(self):
        """Starts over."""
        self._unscaled = False  # since the latest backward pass
        self._clip = None  # (limit, norm) of one in scaled gradients, perhaps
        self._at, self._run = [], 0
        self.touched = False  # torch's own functions changed the gradients since the latest backward pass
        self._stepped, self._in_time, self._late = False, False, None  # of this step; limit of one after it
        self._late_run, self._late_at, self._stepped_at = 0, [], []

    def backward(self, tensors, loss, adds):
        """Gradients change: what was clipped before is of no account."""
        self._clip, self._unscaled = None, False
        self.touched = False
        if self._stepped or self._in_time:
            self._judge()

    def step(self, optimizer, followed):
        """What was clipped was clipped for this step."""
        self._clip = None
        if self._late is not None:  # between the steps of two optimizers
            self._in_time, self._late = True, None
        self._stepped = True
        if is_due(self._late_run + 1):
            self._stepped_at = own_frames(sys._getframe(1))

    def clipped(self, limit, norm, frame):
        """Gradients were clipped; `norm` is what it was, where that is known."""
        self.touched = True
        if not self._stepped:
            self._in_time = True
        elif type(limit) in (int, float) and limit < MOST_LIMIT:
            self._late = limit
            if is_due(self._late_run + 1):
                self._late_at = own_frames(frame)
        if not self._unscaled and type(limit) in (int, float):
            self._clip = limit, norm
            if is_due(self._run + 1):
                self._at = own_frames(frame)

    def _judge(self):
        """A backward pass begins after a step: counts whether the gradients of that were clipped behind it alone."""
        late = self._late
        self._late_run = self._late_run + 1 if late is not None and not self._in_time else 0
        self._stepped, self._in_time, self._late = False, False, None
        if is_due(self._late_run):
            self.marks.tell(
                "clipped-late", run=self._late_run, limit=late, at=self._late_at, stepped_at=self._stepped_at
            )  # fmt: skip

    def unscales(self, scaler, optimizer):
        """A scaler is about to take the scale out of the gradients of an optimizer."""
        clip, self._clip, self._unscaled = self._clip, None, True
        self.touched = True
        if clip is None or not scaler.is_enabled():
            return
        limit, norm = clip[0], _number_of(clip[1])
        scale = _number_of(getattr(scaler, "_scale", None))
        least = scale if scale is not None else getattr(scaler, "_init_scale", 0.0)
        if norm is not None and not isfinite(norm):
            return  # the scaler skips this step
        if limit * LEAST > least or (norm is not None and norm <= limit):
            self._run = 0
            return
        self._run += 1
        if is_due(self._run):
            optimizer = getattr(optimizer, "optimizer", optimizer)  # Accelerate's
            self.marks.tell(
                "clipped-scaled", optimizer=self.marks.number_of(optimizer), run=self._run, limit=limit, norm=norm,
                scale=scale, at=self._at,
            )  # fmt: skip


def _number_of(tensor):
    """Returns what is in a tensor on the host, None of anything else."""
    if type(tensor) is not sys.modules["torch"].Tensor:
        return None
    with tensor_samples.unseen():
        return tensor_samples.scalar_of(tensor)


def watch(clips):
    """Tells `clips` of each clipping by torch's own functions, and of scalers."""
    when_imported(MODULE, lambda: _watch_functions(clips))
    when_imported(SCALERS, lambda: _watch_scalers(clips))


def _watch_functions(clips):
    modules = sys.modules[MODULE + ".clip_grad"], sys.modules[MODULE]
    for name, keyword in LIMITS.items():
        original = getattr(modules[0], name, None)
        if original is None:
            continue
        watched = stand_in(original, _teller(clips, keyword))
        for module in modules:
            if getattr(module, name, None) is original:
                setattr(module, name, watched)


def _teller(clips, keyword):
    def clipped(frame, result, args, kwargs):
        clips.clipped(args[1] if len(args) > 1 else kwargs[keyword], result, frame)

    return clipped


def _watch_scalers(clips):
    def unscales(frame, args, kwargs):
        clips.unscales(args[0], args[1] if len(args) > 1 else kwargs["optimizer"])

    wrap_method(sys.modules[SCALERS].GradScaler, "unscale_", before=unscales)
