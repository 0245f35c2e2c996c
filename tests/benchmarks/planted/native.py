"""Native code that reads where it may not: through ctypes, and in a C library compiled when it is first used."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

SOURCE = """
static double *table = 0;                          /* nobody ever filled it */
double look_up(long place) { return table[place]; }
static void inner(float *out, long n) { for (long i = 0; i < n; i++) out[i] = (float) table[i]; }
void rows(float *out, long n) { inner(out, n); }
"""


def library() -> ctypes.CDLL:
    """Returns the compiled library; processes that compile it at the same time do not meet half a file."""
    place = Path(tempfile.gettempdir()) / f"planted-{os.getuid()}-{hashlib.sha256(SOURCE.encode()).hexdigest()[:8]}.so"
    if not place.exists():
        made = place.with_name(f"{place.name}.{os.getpid()}")
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-x", "c", "-", "-o", str(made)], input=SOURCE, text=True, check=True
        )
        made.rename(place)
    loaded = ctypes.CDLL(str(place))
    loaded.look_up.restype, loaded.look_up.argtypes = ctypes.c_double, [ctypes.c_long]
    loaded.rows.argtypes = [ctypes.c_void_p, ctypes.c_long]
    return loaded
