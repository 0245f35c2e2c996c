"""What looks at the steps of a process: the base of all parts, and when something is told."""

from __future__ import annotations

FIRST = 10  # so many times in a row


def is_due(count, first=FIRST):
    """Whether something that has been so `count` times in a row is told: at 10, 20, 40, 80 ..."""
    return count >= first and not count % first and not (count // first) & (count // first - 1)


class Part:
    """Hears all and does nothing; `marks` is what it tells."""

    def __init__(self, marks):
        self.marks = marks
        self.forget()

    def forget(self):
        """Starts over, at first and in a forked child."""

    def step(self, optimizer, followed):
        """An optimizer is about to make a step."""

    def forward(self, module, root):
        """An outermost module with parameters is called."""

    def backward(self, tensors, loss, adds):
        """A backward pass begins; `adds`: it adds to gradients. `loss` is a number where it can be read."""

    def backward_ended(self):
        """A backward pass ended."""
