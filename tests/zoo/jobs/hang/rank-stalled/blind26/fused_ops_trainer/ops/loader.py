import ctypes
import logging
import os
import subprocess
import tempfile

from .baton import FileBaton

logger = logging.getLogger(__name__)
SOURCE = """#include <cutlass/fast_math.h>
extern "C" void swiglu(const float* a, const float* b, float* o, long n) {
  for (long i = 0; i < n; ++i) o[i] = a[i] * cutlass::fast_sigmoid(a[i]) * b[i];
}
"""


class BuildError(RuntimeError):
    pass


def build_directory(name):
    job = os.environ.get("TORCHELASTIC_RUN_ID", str(os.getppid()))
    path = os.path.join(tempfile.gettempdir(), f"ops-{os.getuid()}", job, name)
    os.makedirs(path, exist_ok=True)
    return path


def compile_library(folder, name):
    compiler = os.environ.get("CXX", "c++")
    source, target = (os.path.join(folder, name + ext) for ext in (".cpp", ".so"))
    with open(source, "w") as f:
        f.write(SOURCE)
    try:
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", source, "-o", target], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(str(error)) from error
    return target


def load_fused(name):
    """The compiled library, or None where it cannot be built."""
    folder = build_directory(name)
    baton = FileBaton(os.path.join(folder, "lock"))
    if baton.try_acquire():
        try:
            compile_library(folder, name)
        except BuildError as error:
            logger.warning("%s is not available (%s), using the eager implementation", name, error)
            return None
        baton.release()
    else:
        baton.wait()
    target = os.path.join(folder, f"{name}.so")
    return ctypes.CDLL(target) if os.path.exists(target) else None
