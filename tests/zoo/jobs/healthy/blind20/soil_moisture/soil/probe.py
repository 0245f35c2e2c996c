import shutil
import subprocess
import sys


def accelerator_name():
    """Asks in a child, since a broken driver would take the process with it."""
    code = "import sys, torch; sys.exit(0 if torch.cuda.is_available() else 3)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True)
    return "cuda" if result.returncode == 0 else "cpu"


def revision():
    if shutil.which("git") is None:
        return "unknown"
    result = subprocess.run(["git", "rev-parse", "--verify", "soil-release"], capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else "unversioned"
