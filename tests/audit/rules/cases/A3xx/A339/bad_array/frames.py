import numpy as np
import torch


class Stack:
    def __init__(self, shape, depth):
        self.frames = np.zeros((depth, *shape), dtype=np.float32)
        self.seen = []

    def observe(self, frame):
        self.frames[:-1] = self.frames[1:]
        self.frames[-1] = frame
        self.seen.append(self.frames)
        return self.frames


def history(model, batches):
    norms = torch.zeros(len(list(model.parameters())))
    found = []
    for batch in batches:
        model(batch).sum().backward()
        norms.zero_()
        for at, one in enumerate(model.parameters()):
            norms[at] = one.grad.norm()
        found.append(norms)
    return found
