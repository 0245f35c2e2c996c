import ctypes
import subprocess
from pathlib import Path

import torch

LIBRARY = Path("build/libsmooth.so")


def build(variants=400):
    """One instance of the kernel for each width, as the autotuner wants them."""
    LIBRARY.parent.mkdir(exist_ok=True)
    text = Path(__file__).with_name("smooth.cpp").read_text()
    source = LIBRARY.with_suffix(".cpp")
    table = ", ".join(f"smooth<{width}>" for width in range(1, variants + 1))
    source.write_text(f"{text}\nextern \"C\" {{ kernel table[] = {{{table}}}; }}\n")
    subprocess.run(["g++", "-O3", "-shared", "-fPIC", "-o", LIBRARY, source], check=True)


def load():
    return Kernel(ctypes.CDLL(str(LIBRARY.absolute())))


class Kernel:
    def __init__(self, library):
        table = (ctypes.c_void_p * 400).in_dll(library, "table")
        self.call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(table[2])

    def smooth(self, x):
        out = torch.empty_like(x)
        flat = x.detach().contiguous()
        self.call(flat.data_ptr(), out.data_ptr(), flat.numel())
        return x + (out - x).detach()
