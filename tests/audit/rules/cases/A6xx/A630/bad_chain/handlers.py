import signal
import sys


def chain(signum, cleanup):
    previous = signal.getsignal(signum)

    def handler(number, frame):
        cleanup()
        if callable(previous):
            previous(number, frame)
        sys.exit()

    signal.signal(signum, handler)


class Flag:
    def __init__(self):
        self.interrupted = False
        for one in (signal.SIGUSR1, signal.SIGHUP):
            signal.signal(one, self.note)

    def note(self, number, frame):
        self.interrupted = True

    def ask(self, save):
        if self.interrupted:
            save()
            sys.exit(0)
