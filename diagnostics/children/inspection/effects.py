"""What writing in place comes to: does a second step change the content again, does another batch give another one.

The second step goes on from what the first one left; the last starts from what the first one found, with another
batch. So a clamp (changes nothing again), a counter (the same for each batch) and running statistics of the batch
(another value on each rank) are told apart by measuring.
"""

import torch

from .values import same


class Effects:
    """Contents of what was written, by (kind, name)."""

    def __init__(self, steps):
        self.steps = steps
        self.first = {}  # what the first step found
        self.after_first = {}
        self.changed = set()
        self.again = {}
        self.differs = {}

    def prepare(self, number):
        """Before the last step: puts back what the first one found."""
        if number == self.steps > 1:
            for key, content in self.first.items():
                self._put_back(self.tensors.get(key), content)

    def _put_back(self, tensor, content):
        if tensor is not None and tensor.grad_fn is None and tensor.shape == content.shape:
            with torch.no_grad():
                tensor.detach().copy_(content)

    def note(self, number, model, before):
        """After a step's forward; `before` is what was there before it wrote, by (kind, name)."""
        self.tensors = tensors_of(model)
        for key, content in before.items():
            now = self.tensors.get(key)
            if now is None:
                continue
            changed = not same(content, now.detach())
            if changed:
                self.changed.add(key)
            if number == 1:
                self.first[key], self.after_first[key] = content, now.detach().clone()
            elif key in self.after_first and number == self.steps:
                self.differs[key] = not same(self.after_first[key], now.detach())
            elif key in self.after_first:
                self.again[key] = changed

    def described(self):
        """Returns one entry for each parameter and buffer whose content a step changed."""
        return [
            {
                "kind": kind,
                "name": name,
                "again": self.again.get((kind, name)),
                "differs": self.differs.get((kind, name)),
                "trainable": bool(self.tensors[kind, name].requires_grad),
                "floating": self.tensors[kind, name].is_floating_point(),
            }
            for kind, name in sorted(self.changed)
        ]


def tensors_of(model):
    """Returns the parameters and buffers by (kind, name)."""
    parameters = {("parameter", name): tensor for name, tensor in model.named_parameters()}
    return {**parameters, **{("buffer", name): tensor for name, tensor in model.named_buffers()}}
