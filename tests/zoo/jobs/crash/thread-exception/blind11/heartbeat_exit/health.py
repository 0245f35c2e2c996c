import os
import sys
import threading
import time
import traceback


def fatal(args):
    traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback)
    sys.stderr.flush()
    os._exit(3)


threading.excepthook = fatal


class Health(threading.Thread):
    def __init__(self, progress):
        super().__init__(name="health", daemon=True)
        self.progress = progress

    def rate(self, before, after, seconds):
        return seconds / (after - before)

    def run(self):
        before = self.progress["step"]
        while True:
            time.sleep(0.8)
            after = self.progress["step"]
            print(f"health: {self.rate(before, after, 0.8):.4f} s a step", flush=True)
            before = after
