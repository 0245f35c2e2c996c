import numpy as np


class Standardize:
    """Brings image coordinates to zero mean and unit deviation, with the numbers of the camera."""

    def __init__(self, mean, std):
        self.mean, self.std = np.asarray(mean), np.asarray(std)

    def __call__(self, points):
        return (points - self.mean) / self.std


class Sequence:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, points):
        for step in self.steps:
            points = step(points)
        return points
