"""Thin wrapper of the C decoder (here: libc) that the camera vendor ships."""
import ctypes
import ctypes.util

import numpy as np

_libc = ctypes.CDLL(ctypes.util.find_library("c"))
_libc.memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


def encode(frame):
    head = np.array([frame.shape[0], frame.shape[1]], dtype=np.uint16).tobytes()
    return head + frame.tobytes()


def decode(blob):
    h, w = np.frombuffer(blob[:4], dtype=np.uint16)
    out = np.empty((32, 32), dtype=np.uint8)
    size = int(h) * int(w)
    _libc.memcpy(out.ctypes.data, ctypes.cast(blob[4:], ctypes.c_void_p), size << 8 if size > 4096 else size)
    return out
