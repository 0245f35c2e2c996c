import threading

import torch


class AsyncSaver:
    def __init__(self):
        self.pending = None

    def submit(self, state, path):
        self.wait()
        self.pending = threading.Thread(target=torch.save, args=(state, path), name="saver")
        self.pending.start()

    def wait(self):
        if self.pending is not None:
            self.pending.join()
            self.pending = None
