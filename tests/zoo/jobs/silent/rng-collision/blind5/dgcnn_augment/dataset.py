import numpy as np
import torch
from torch.utils.data import Dataset

from augmentor import DataAugmentor

AUGMENTOR = [
    {"NAME": "random_world_flip", "ALONG_AXIS": [0, 1]},
    {"NAME": "random_world_rotation", "WORLD_ROT_ANGLE": [-0.785, 0.785]},
    {"NAME": "random_world_scaling", "WORLD_SCALE_RANGE": [0.9, 1.1]},
    {"NAME": "random_drop", "RATIO": 0.1},
]


class LidarObjects(Dataset):
    """Point clouds of four kinds of objects: plane, pole, box shell, ball."""

    def __init__(self, num_objects, num_points=48, training=True, seed=666):
        rng = np.random.RandomState(3)
        self.labels = rng.randint(0, 4, num_objects)
        self.clouds = [self._make(rng, label, num_points) for label in self.labels]
        self.data_augmentor = DataAugmentor(AUGMENTOR, seed) if training else None

    @staticmethod
    def _make(rng, label, n):
        p = rng.uniform(-1, 1, (n, 3))
        if label == 0:
            p[:, 2] *= 0.05
        elif label == 1:
            p[:, :2] *= 0.1
        elif label == 2:
            p[np.arange(n), rng.randint(0, 3, n)] = np.sign(rng.randn(n))
        else:
            p /= np.linalg.norm(p, axis=1, keepdims=True)
        return (p + 0.05 * rng.randn(n, 3)).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        points = self.clouds[index].copy()
        if self.data_augmentor is not None:
            points = self.data_augmentor.forward(points)
        return torch.from_numpy(np.ascontiguousarray(points, dtype=np.float32)), int(self.labels[index])
