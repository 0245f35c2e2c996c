import numpy as np
import torch


class Stack:
    def __init__(self, shape, depth):
        self.frames = np.zeros((depth, *shape), dtype=np.float32)
        self.seen = []
        self.parts = []
        self.parts.append(self.frames)

    def observe(self, frame):
        self.frames[:-1] = self.frames[1:]
        self.frames[-1] = frame
        self.seen.append(self.frames.copy())
        return self.frames


def history(batches):
    found, total = [], torch.zeros(3)
    for batch in batches:
        total += batch.sum(0)
        found.append(total.clone())
        found.append(total[0].item())
    return found


def masks(lengths, size):
    found = []
    for length in lengths:
        mask = torch.zeros(size)
        mask[:length] = 1
        found.append(mask)
    return found
