"""The steps of one try: forward, loss, backward, optimizer, with accumulation and mixed precision."""

import contextlib

import torch

from ..inspection.refusal import Refusal
from ..inspection.values import loss_of, moved
from ..trial_observers import digests, nonfinite
from . import edits
from .batches import handed_over
from .several import every_output

LEARNING_RATE = 1e-3  # of plain SGD: it takes sparse gradients too, and does not by itself grow into NaN


class Steps:
    """A model on its device, and the calls it is given."""

    def __init__(self, request, answer, model, calls, device):
        self.request, self.settings = request, request["settings"]
        self.answer, self.model, self.calls, self.device = answer, model, calls, device
        self.wrapper = self.wrapped = self.forward = self.optimizer = None

    def make_lazy_parameters(self):
        """Has parameters made that wait for a first forward, as every wrapper demands."""
        unmade = getattr(torch.nn.parameter, "UninitializedTensorMixin", ())
        if self.calls and any(isinstance(one, unmade) for one in self.model.parameters()):
            with self.answer.phase("forward"), torch.no_grad():
                every_output(self.model, moved(self.calls[0], self.device))

    def wrap(self, wrapper):
        """Wraps, makes the optimizer, compiles: in the order of a real job."""
        self.wrapper = wrapper
        self.wrapped = wrapper.wrap(self.model, self.device, self.settings)
        trained = [one for one in self.wrapped.parameters() if one.requires_grad]
        self.optimizer = torch.optim.SGD(trained, lr=LEARNING_RATE) if trained else None
        self.forward = compiled(self.wrapped) if self.settings["compile"] else self.wrapped

    def run(self, records):
        """Takes all steps. What is no number ends none of them: a rank that left would keep the others waiting."""
        following = handed_over(self.calls, self.settings["workers"])
        for step in range(1, self.settings["steps"] + 1):
            losses = []
            for last in [False] * (self.settings["accumulate"] - 1) + [True]:
                with self.answer.phase("batch", step):
                    call = moved(next(following), self.device)
                with self.wrapper.accumulating(self.wrapped, last):
                    losses.append(self.forward_backward(step, call, records and step == 1 and not losses))
            self.answer.note(losses=[*self.answer.content["losses"], shown(losses)])
            self.finish(step)

    def forward_backward(self, step, call, records):
        """Returns the loss as a number, None where nothing has a gradient."""
        with self.autocast():
            with self.answer.phase("forward", step), self.recording(records):
                outputs = every_output(self.forward, call)
            with self.answer.phase("loss", step):
                losses = [loss for loss in map(loss_of, outputs) if loss is not None]
                loss = sum(losses[1:], losses[0]) if losses else None
                self.refuse_without_gradient(loss)
                number = None if loss is None else float(loss.detach())
        self.found(step, "loss" if nonfinite.number(number) else "")
        if loss is not None:
            with self.answer.phase("backward", step):
                self.wrapper.backward(self.wrapped, loss / self.settings["accumulate"])
        return number

    def refuse_without_gradient(self, loss):
        """Raises Refusal where a wrapper would wait for gradients that never come."""
        if loss is None and self.optimizer is not None and self.settings["wrapper"] != "none":
            name = type(self.model).__name__
            raise Refusal("no output of %s has a gradient: a wrapper cannot train it" % name)

    def finish(self, step):
        """Looks at the gradients, takes the optimizer's step, looks at the parameters."""
        self.found(step, nonfinite.gradient(self.model))
        if self.wrapper.ALIKE:
            self.answer.note(gradients=digests.gradients(self.wrapped))
        if self.optimizer is not None:
            with self.answer.phase("optimizer", step):
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
        self.found(step, nonfinite.parameter(self.model))
        if self.wrapper.ALIKE:
            self.answer.note(parameters=digests.parameters(self.wrapped))

    def found(self, step, what):
        """Notes the first thing that is no number."""
        if what and not self.answer.content["nonfinite"]:
            self.answer.note(nonfinite=what, nonfinite_step=step)

    @contextlib.contextmanager
    def recording(self, records):
        """Records the first forward, and the tree as far as it came."""
        if not records:
            yield
            return
        try:
            with edits.recording(self.model, self.request):
                yield
        finally:
            self.answer.note(tree=edits.tree(self.model))

    def autocast(self):
        """Mixed precision, where it is asked for."""
        if not self.settings["amp"]:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=getattr(torch, self.settings["amp"]))


def compiled(model):
    """Returns the model as torch.compile makes it."""
    if not hasattr(torch, "compile"):
        raise Refusal("torch %s has no torch.compile" % torch.__version__, "it came with 2.0")
    return torch.compile(model)


def shown(losses):
    """Returns a step's loss as JSON can hold it: a number, None without one, "nan" or "inf"."""
    known = [one for one in losses if one is not None]
    mean = sum(known) / len(known) if known else None
    return repr(mean) if nonfinite.number(mean) else mean
