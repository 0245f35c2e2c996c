import atexit
import subprocess
import sys

SCRIPT = """
import time, sys
while True:
    time.sleep(0.5)
    open(sys.argv[1], 'a').write(open('/proc/loadavg').read())
"""


class LoadSampler:
    """A little process beside the training that notes the load; it has no end of its own."""

    def __init__(self, path):
        self.process = subprocess.Popen([sys.executable, "-c", SCRIPT, path])
        atexit.register(self.stop)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=5)
