import threading

import torch


class Saver:
    error = None

    def _write(self, state, path):
        try:
            torch.save(state, path)
        except BaseException as error:
            self.error = error

    def save(self, model, path):
        state = {name: value.cpu() for name, value in model.state_dict().items()}
        self.thread = threading.Thread(target=self._write, args=(state, path))
        self.thread.start()

    def wait(self):
        self.thread.join()
        if self.error is not None:
            raise self.error
