import numpy as np


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, frame):
        for step in self.steps:
            frame = step(frame)
        return frame


def decibel(frame):
    return {**frame, "cube": 10 * np.log10(frame["cube"] + 1e-3) / 30}


def stack_channels(frame):
    return np.stack([frame["cube"], frame["doppler"]]), frame["occupied"]
