import subprocess
import sys


def fused_available():
    code = "import ctypes; ctypes.string_at(0)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True)
    return out.returncode == 0


def version_of(tool):
    try:
        return subprocess.check_output([tool, "--version"], text=True, stderr=subprocess.DEVNULL).split()[-1]
    except (OSError, subprocess.CalledProcessError) as error:
        print("no", tool, type(error).__name__)
        return None
