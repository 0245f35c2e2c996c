import time


class Callback:

    def on_train_begin(self, trainer):
        pass

    def on_epoch_end(self, trainer, epoch, logs):
        pass


class History(Callback):

    def __init__(self, verbose=1):
        self.verbose, self.history = verbose, []

    def on_train_begin(self, trainer):
        self.start = time.time()

    def on_epoch_end(self, trainer, epoch, logs):
        self.history.append(logs)
        if self.verbose and trainer.rank == 0 and epoch % self.verbose == 0:
            shown = " | ".join(f"{k}: {v:.5f}" for k, v in logs.items())
            print(f"epoch {epoch:<3}| {shown} |  {time.time() - self.start:.0f}s", flush=True)
