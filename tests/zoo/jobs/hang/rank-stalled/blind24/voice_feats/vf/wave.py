import numpy as np


class FormatError(Exception):
    def __init__(self, clip, header):
        super().__init__(f"{clip}: unsupported sample width {header['width']}")
        self.clip = clip
        self.header = header


def read_clip(name):
    """Clips are synthesised from their name; a few old ones were recorded with 24 bit."""
    number = int(name.rsplit("_", 1)[1])
    header = {"rate": 16000, "width": 3 if number % 97 == 96 else 2}
    if header["width"] not in (1, 2, 4):
        raise FormatError(name, header)
    rng = np.random.default_rng(number)
    t = np.arange(4000) / header["rate"]
    tone = np.sin(2 * np.pi * (200 + 40 * (number % 8)) * t)
    return tone + 0.3 * rng.standard_normal(t.size), number % 8
