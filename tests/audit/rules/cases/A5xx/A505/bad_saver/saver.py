import threading

import torch


class Saver:
    def _write(self, state, path):
        torch.save(state, path)

    def save(self, model, path):
        state = {name: value.cpu() for name, value in model.state_dict().items()}
        self.thread = threading.Thread(target=self._write, args=(state, path))
        self.thread.start()

    def wait(self):
        self.thread.join()
