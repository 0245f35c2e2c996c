import signal
import sys


def stop(number, frame):
    sys.exit(0)


signal.signal(signal.SIGTERM, stop)
signal.pause()
