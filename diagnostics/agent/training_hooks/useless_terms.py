"""Terms of a loss that lead to nothing its own optimizer holds: only to what another one trains, where they are erased.

In a few passes it is looked which parameters each term of the loss leads to; then, which optimizers make a step before
the next pass, and whether the gradients of the others were thrown away when that pass begins.
"""

from __future__ import annotations

import sys

from ..loss_graphs.separate_terms import leaves_of, terms_behind
from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

LOOKED_AT = 4  # passes in a row: losses that take turns (a critic's, an actor's) are each looked at
MOST_READ = 64  # numbers of one gradient


class UselessTerms(Part):
    """Of the losses of a process with several optimizers."""

    def forget(self):
        """Starts over."""
        self._passes = self._left = self._run = 0
        self._terms, self._at = [], []  # what each term of the latest loss leads to, and where its pass began
        self._stepped = {}  # number of an optimizer that made a step since -> ids of what it holds

    def step(self, optimizer, followed):
        """Notes which optimizers use the pass."""
        if self._terms:
            self._stepped[followed.index] = {id(one) for group in optimizer.param_groups for one in group["params"]}

    def backward(self, tensors, loss, adds):
        """Judges the pass before, and looks at this one where it is due."""
        if self._terms:
            self._judge()
        self._terms, self._stepped = [], {}
        self._passes += 1
        if is_due(self._passes) and self.marks.optimizers() > 1:
            self._left = LOOKED_AT
        if not self._left:
            return
        self._left -= 1
        root = tensors[0].grad_fn if adds and type(tensors[0]) is sys.modules["torch"].Tensor else None
        terms = [leaves_of(one) for one in terms_behind(root)] if root is not None and len(tensors) == 1 else []
        if terms and all(terms):
            self._terms, self._at = terms, own_frames(sys._getframe(1))

    def _judge(self):
        """Tells where one term leads past all that made a step, and what it led to holds no gradient of it any more."""
        if len(self._stepped) != 1:
            return  # none: more passes are to come; several: which of them is meant is not known
        ((index, own),) = self._stepped.items()
        useless = [one for one in self._terms if not one & own]
        if not useless or len(useless) == len(self._terms):
            return
        lost = set().union(*useless)
        if any(one & own and one & lost for one in self._terms):
            return  # another term goes through the same model to what learns
        holders = [one for one in self.marks.other_optimizers(index) if _held_of(one[1], lost)]
        if not holders or not all(_is_erased(one) for one in _held_of(holders[0][1], lost)):
            return
        self._run, self._left = self._run + 1, 0
        self.marks.tell(
            "term-useless", run=self._run, optimizer=index, other=holders[0][0], terms=len(self._terms),
            useless=len(useless), at=self._at,
        )  # fmt: skip


def _held_of(optimizer, wanted):
    return [one for group in optimizer.param_groups for one in group["params"] if id(one) in wanted]


def _is_erased(parameter):
    """Whether a parameter has no gradient, or one of zeros; one that cannot be read is one."""
    gradient = parameter.grad
    if gradient is None:
        return True
    with tensor_samples.unseen():
        if tensor_samples.why_not(gradient) or not gradient.dtype.is_floating_point:
            return False
        count = gradient.numel()
        data = tensor_samples.elements_of(gradient, range(0, count, max(1, count // MOST_READ)))
        return not any(tensor_samples.numbers_in(data, str(gradient.dtype)[len("torch.") :]))
