"""Random numbers drawn inside a model: kept on the ranks, handed out again to the one process, sample by sample.

Without it no model with dropout or noise could be compared: one process draws other masks than two do.
"""

from __future__ import annotations

import functools
import os

from ..torch_hooks.dynamo import compiling_test
from . import attention, writing

FACTORIES = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "normal")
IN_PLACE = ("bernoulli_", "normal_", "uniform_", "random_", "exponential_")
DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
SCALED = ("dropout", "dropout1d", "dropout2d", "dropout3d")  # these multiply with a mask, which can be kept
MOST_BYTES = 64 << 20  # kept of one step


class Draws:
    """What was drawn in the current step, or the draws of all ranks that are handed out in it."""

    def __init__(self, session, inside, traced):
        self.session, self.inside, self.traced = session, inside, traced
        self.kept, self.bytes, self.next, self.found = [], 0, 0, None
        self.busy = False

    def wanted(self):
        """Whether a random function that is called now is the model's, and does draw: no compiler looks through it."""
        return self.session.started and not self.busy and self.inside() and not self.traced()

    def draw(self, make, name, shape):
        """Returns random numbers of this shape: drawn and kept, or those that the ranks drew."""
        given = self._given(name, shape)
        if given is not None:
            return given
        self.busy = True
        try:
            value = make()
        finally:
            self.busy = False
        self.bytes += value.numel() * value.element_size()
        if self.bytes <= MOST_BYTES:
            self.kept.append((name, value.detach().to("cpu", copy=True)))
        else:
            self.session.facts["draws_cut"] = True
        return value

    def begin_step(self):
        """The step before is over."""
        self.kept, self.bytes, self.next, self.found = [], 0, 0, None

    def _given(self, name, shape):
        if self.session.mode == "ranks":
            return None
        number, self.next = self.next, self.next + 1
        shares = [draws[number][1] for draws in self._of_ranks() if number < len(draws) and draws[number][0] == name]
        if len(shares) < len(self._of_ranks()) or not shares:
            return None
        return self._joined(shares, shape)

    def _of_ranks(self):
        if self.found is None:
            plan, name = self.session.plan, "draws-%d.pt" % self.session.steps
            ranks = [plan["rank"]] if self.session.mode == "alone" else range(plan["world"])
            folders = [os.path.join(plan["source"], "rank-%d" % rank) for rank in ranks]
            self.found = [writing.load(one, name) for one in folders if os.path.exists(os.path.join(one, name))]
        return self.found

    def _joined(self, shares, shape):
        import torch

        shape = tuple(shape)
        if len(shares) == 1 and tuple(shares[0].shape) == shape:
            return shares[0]
        for dimension in range(len(shape)):
            sizes = [one.shape[dimension] for one in shares if one.dim() == len(shape)]
            rest = {tuple(one.shape[:dimension]) + tuple(one.shape[dimension + 1 :]) for one in shares}
            if rest != {shape[:dimension] + shape[dimension + 1 :]}:
                continue
            whole, order = torch.cat(shares, dimension), self.session.order_of_samples()
            if order is not None and len(order) == shape[dimension] and max(order) < sum(sizes):
                return whole.index_select(dimension, torch.tensor(order))
            if sum(sizes) == shape[dimension]:
                return whole
        if all(tuple(one.shape) == shape for one in shares):
            if not all(torch.equal(one, shares[0]) for one in shares[1:]):
                self.session.facts["draws_for_whole_batches"] = True
            return shares[0]
        return None


def place_hooks(session, inside):
    """Patches torch's random functions of this process; they do what they did outside of modules."""
    import torch

    is_compiling, modes = compiling_test(), torch._C._len_torch_dispatch_stack
    session.draws = draws = Draws(session, inside, lambda: is_compiling() or modes() > 0)
    for name in FACTORIES:
        setattr(torch, name, _factory(getattr(torch, name), name, draws))
    for name in IN_PLACE:
        setattr(torch.Tensor, name, _in_place(getattr(torch.Tensor, name), name, draws))
    functional = torch.nn.functional
    functional.scaled_dot_product_attention = attention.replayable(functional.scaled_dot_product_attention, draws)
    for name in DROPOUTS:
        setattr(functional, name, _dropout(getattr(functional, name), name, draws))


def _factory(original, name, draws):
    @functools.wraps(original)
    def call(*args, **kwargs):
        made = original(*args, **kwargs)
        if not draws.wanted():
            return made
        given = draws.draw(lambda: made, name, made.shape)
        return made if given is made else given.to(made.device, made.dtype)

    return call


def _in_place(original, name, draws):
    @functools.wraps(original)
    def call(self, *args, **kwargs):
        made = original(self, *args, **kwargs)
        if draws.wanted():
            given = draws.draw(lambda: made, name, self.shape)
            if given is not made:
                self.detach().copy_(given)
        return made

    return call


def _dropout(original, name, draws):
    @functools.wraps(original)
    def call(input, p=0.5, training=True, inplace=False):  # noqa: A002 - torch's name
        if not training or not p or p >= 1 or not draws.wanted():
            return original(input, p, training, inplace)
        if name not in SCALED:
            draws.session.facts["draws_cut"] = True
            return original(input, p, training, inplace)
        import torch

        mask = draws.draw(lambda: original(torch.ones_like(input), p, True, False), name, input.shape)
        return input * mask.to(input.device, input.dtype)

    return call
