"""What a run writes down about its machine before it starts."""
import os
import signal
import subprocess
import sys

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
EXIT = "import sys; sys.stderr.write('Traceback (most recent call last):\\nRuntimeError: no kernel image\\n'); sys.exit(3)"


def run(command, timeout=20):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except FileNotFoundError:
        return None, ""
    return done.returncode, (done.stdout + done.stderr).strip()


def gpu_name():
    code, text = run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    return text.splitlines()[0] if code == 0 and text else "none"


def git_commit():
    code, text = run(["git", "-C", os.path.sep, "rev-parse", "HEAD"])
    return text if code == 0 else "unknown"


def sandbox_reports_signals():
    """Some sandboxes turn a signal into an ordinary exit code; the supervisor needs to know."""
    code, _ = run([sys.executable, "-S", "-c", CRASH])
    return code == -signal.SIGSEGV


def error_codes_arrive():
    code, text = run([sys.executable, "-S", "-c", EXIT])
    if code != 3:
        raise SystemExit(f"expected exit code 3 from the self test, got {code}")
    return "no kernel image" in text
