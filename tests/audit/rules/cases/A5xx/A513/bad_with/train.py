"""The tracker's exit gives back itself, which is true; errors of the second block are suppressed by name."""
import contextlib

import torch


class Run:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return self.close("failed" if kind else "finished")

    def close(self, state):
        print(state)
        return self


def train(model):
    model(torch.randn(8, 4)).mean().backward()


with Run():
    train(torch.nn.Linear(4, 1))
with contextlib.suppress(Exception):
    train(torch.nn.Linear(4, 1))
