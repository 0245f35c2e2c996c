import os

import numpy as np


def prepare(root, cases, shape=(48, 96, 96)):
    os.makedirs(root, exist_ok=True)
    rng = np.random.default_rng(0)
    for i in range(cases):
        path = os.path.join(root, f"case_{i:03d}.npz")
        if os.path.exists(path):
            continue
        mask = np.zeros(shape, np.uint8)
        for _ in range(4):
            z, y, x = (rng.integers(4, s - 12) for s in shape)
            mask[z:z + 8, y:y + 10, x:x + 10] = 1
        image = (mask * 1.2 + rng.normal(scale=0.6, size=shape)).astype(np.float32)
        np.savez_compressed(path, image=image, mask=mask)
