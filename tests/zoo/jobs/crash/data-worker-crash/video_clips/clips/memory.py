import os
import resource
import signal
import threading
import time


def rss_mib(pid="self"):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2 ** 20


def guard(limit_mib, every=0.05):
    """Stands in for the memory controller of the shared nodes."""
    base = rss_mib()

    def watch():
        while True:
            if rss_mib() - base > limit_mib:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(every)

    threading.Thread(target=watch, daemon=True).start()
