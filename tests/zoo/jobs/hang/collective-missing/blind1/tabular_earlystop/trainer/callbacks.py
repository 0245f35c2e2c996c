class Callback:
    def on_epoch_end(self, trainer, logs):
        pass


class PrintLogs(Callback):
    def on_epoch_end(self, trainer, logs):
        if trainer.rank == 0:
            print("epoch %d  loss %.4f  valid %.4f" % (trainer.epoch, logs["loss"], logs["valid_loss"]), flush=True)


class EarlyStopping(Callback):
    def __init__(self, monitor, patience, min_delta):
        self.monitor = monitor
        self.patience = patience
        self.min_delta = min_delta
        self.best = float("inf")
        self.bad_epochs = 0

    def on_epoch_end(self, trainer, logs):
        value = logs[self.monitor]
        if value < self.best - self.min_delta:
            self.best = value
            self.bad_epochs = 0
            return
        self.bad_epochs += 1
        if self.bad_epochs > self.patience:
            trainer.should_stop = True
