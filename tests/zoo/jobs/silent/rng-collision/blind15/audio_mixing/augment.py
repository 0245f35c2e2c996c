import numpy as np


class Compose:
    def __init__(self, *stages):
        self.stages = stages

    def __call__(self, wave):
        for stage in self.stages:
            wave = stage(wave)
        return wave


class _Random:
    def __init__(self, rng):
        self.rng = rng


class Gain(_Random):
    def __call__(self, wave):
        return wave * np.float32(self.rng.uniform(0.5, 1.5))


class Shift(_Random):
    def __call__(self, wave):
        return np.roll(wave, self.rng.integers(0, len(wave)))


class Babble(_Random):
    """Adds a stretch of one of the background recordings."""

    def __init__(self, rng, recordings, level):
        super().__init__(rng)
        self.recordings, self.level = recordings, level

    def __call__(self, wave):
        track = self.recordings[self.rng.integers(len(self.recordings))]
        at = self.rng.integers(0, len(track) - len(wave))
        return wave + np.float32(self.level) * track[at:at + len(wave)]


def training_chain(seed, recordings):
    rng = np.random.default_rng(seed)
    return Compose(Shift(rng), Gain(rng), Babble(rng, recordings, 0.4))
