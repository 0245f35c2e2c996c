import numpy as np


class DataAugmentor:
    """Random world flip, rotation, scaling and point drop-out, in the order of the config."""

    def __init__(self, config, seed):
        self.rng = np.random.RandomState(seed)
        self.queue = [(getattr(self, item["NAME"]), item) for item in config]

    def random_world_flip(self, points, item):
        for axis in item["ALONG_AXIS"]:
            if self.rng.rand() < 0.5:
                points[:, axis] *= -1
        return points

    def random_world_rotation(self, points, item):
        angle = self.rng.uniform(*item["WORLD_ROT_ANGLE"])
        c, s = np.cos(angle), np.sin(angle)
        points[:, :2] = points[:, :2] @ np.array([[c, -s], [s, c]], dtype=points.dtype).T
        return points

    def random_world_scaling(self, points, item):
        return points * self.rng.uniform(*item["WORLD_SCALE_RANGE"])

    def random_drop(self, points, item):
        dropped = self.rng.rand(len(points)) < item["RATIO"]
        points[dropped] = points[0]
        return points

    def forward(self, points):
        for function, item in self.queue:
            points = function(points, item)
        return points
