import os

import numpy as np

SCENES = [f"S2A_{tile}" for tile in ("31UFT", "32TQM", "33UUP", "34VEL")]


def render(name, size=1600):
    """Stands for the reading and warping of one scene."""
    rng = np.random.default_rng(sum(map(ord, name)))
    field = rng.standard_normal((size, size)).astype(np.float32)
    for _ in range(700):
        field = (field + np.roll(field, 1, 0) + np.roll(field, 1, 1) + np.roll(field, -1, 0)) / 4
    return field / field.std()


def cut(field, tile=32, stride=80):
    return np.stack([field[i:i + tile, j:j + tile] for i in range(0, field.shape[0] - tile, stride)
                     for j in range(0, field.shape[1] - tile, stride)])


def path_of(cache, name):
    return os.path.join(cache, f"{name}.npy")
