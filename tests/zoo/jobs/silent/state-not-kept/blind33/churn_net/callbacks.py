import torch


class Callback:
    def on_epoch_end(self, trainer, metrics):
        pass


class ModelCheckpoint(Callback):
    """Keeps the weights of the epoch with the best monitored metric."""

    def __init__(self, path, monitor="val_loss", mode="min", save_best_only=True):
        self.path, self.monitor, self.mode = path, monitor, mode
        self.save_best_only = save_best_only
        self.last_monitor_value = None

    def _improved(self, value):
        if self.last_monitor_value is None:
            return True
        if self.mode == "min":
            return value < self.last_monitor_value
        return value > self.last_monitor_value

    def on_epoch_end(self, trainer, metrics):
        value = metrics[self.monitor]
        if not self.save_best_only or self._improved(value):
            torch.save({"model": trainer.model.state_dict(), "metrics": metrics}, self.path)
        self.last_monitor_value = value


class CsvLogger(Callback):
    def __init__(self, path):
        self.path = path
        open(path, "w").close()

    def on_epoch_end(self, trainer, metrics):
        with open(self.path, "a") as f:
            f.write(",".join(f"{v:.5f}" for v in metrics.values()) + "\n")
