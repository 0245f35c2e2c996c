import ctypes
import struct

import numpy as np

LIBC = ctypes.CDLL(None)
LIBC.memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
HEADER = struct.Struct("<II")


def encode(image):
    return HEADER.pack(*image.shape) + image.tobytes()


def decode(blob):
    height, width = HEADER.unpack_from(blob)
    image = np.empty((min(height, 64), min(width, 64)), np.uint8)
    source = ctypes.c_char_p(blob)
    address = ctypes.cast(source, ctypes.c_void_p).value + HEADER.size
    LIBC.memcpy(image.ctypes.data, address, height * width)
    return image
