import os

import numpy as np

from datasets.image_io import write_pnm


def export_line_images(root, count, size=24):
    """The pictures of one shift."""
    rng = np.random.default_rng(7)
    os.makedirs(root, exist_ok=True)
    for i in range(count):
        mono = i == 81
        image = rng.integers(0, 255, size=(size, size, 1 if mono else 3), dtype=np.uint8)
        write_pnm(os.path.join(root, f"part_{i:04d}.{'pgm' if mono else 'ppm'}"), image)
