import time


class Console:
    def __init__(self, name):
        self.name = name

    def log(self, text):
        print(f"[{self.name}] {text}", flush=True)


class Silent:
    def log(self, text):
        pass


def make_logger(rank):
    if rank:
        return Silent()
    time.sleep(2.0)  # the tracking server takes its time to open a run
    return Console("run-0")
