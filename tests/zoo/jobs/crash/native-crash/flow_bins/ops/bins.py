import ctypes
from pathlib import Path

_lib = ctypes.CDLL(str(Path(__file__).with_name("libbins.so")))


def bin_size(samples, bins):
    return _lib.bin_size(samples, bins)
