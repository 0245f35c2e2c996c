"""Starts a Python that sleeps and lets py-spy read its stack; argv: the py-spy program.

A sibling, not an own child, is traced: that is how ranks stand to the doctor, and what Yama restricts.
"""

import subprocess
import sys

SLEEPER = "import sys, time; sys.stdout.write('up'); sys.stdout.flush(); time.sleep(60)"


def main():
    """Returns the exit code of py-spy; its stack goes to stdout."""
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE) as sleeper:
        try:
            sleeper.stdout.read(2)
            return subprocess.call([sys.argv[1], "dump", "--pid", str(sleeper.pid)])
        finally:
            sleeper.kill()


if __name__ == "__main__":
    sys.exit(main())
