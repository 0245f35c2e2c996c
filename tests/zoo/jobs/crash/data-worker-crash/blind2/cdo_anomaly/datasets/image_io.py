"""Reads PGM and PPM, the formats of the line cameras."""
import numpy as np


def read_pnm(path):
    with open(path, "rb") as f:
        magic = f.readline().strip()
        width, height = map(int, f.readline().split())
        f.readline()
        raw = np.frombuffer(f.read(), dtype=np.uint8)
    channels = 3 if magic == b"P6" else 1
    return raw.reshape(height, width, channels)


def write_pnm(path, image):
    height, width, channels = image.shape
    with open(path, "wb") as f:
        f.write(b"P6\n" if channels == 3 else b"P5\n")
        f.write(f"{width} {height}\n255\n".encode())
        f.write(image.tobytes())
