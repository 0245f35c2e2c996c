import threading
import time
from collections import deque


class Callback:
    def on_train_begin(self, trainer): ...
    def on_step_end(self, trainer, loss): ...
    def on_epoch_end(self, trainer): ...

    def state_dict(self):
        return dict(self.__dict__)

    def load_state_dict(self, state):
        self.__dict__.update(state)


class LossMeter(Callback):
    def __init__(self):
        self.total, self.count = 0.0, 0
        self.history = []

    def on_step_end(self, trainer, loss):
        self.total += loss
        self.count += 1

    def on_epoch_end(self, trainer):
        self.history.append(self.total / max(1, self.count))
        trainer.print(f"epoch {trainer.epoch} loss {self.history[-1]:.4f}")
        self.total, self.count = 0.0, 0


class LrTracker(Callback):
    def __init__(self):
        self.rates = []

    def on_epoch_end(self, trainer):
        self.rates.append(trainer.optimizer.param_groups[0]["lr"])


class ThroughputMonitor(Callback):
    """Samples per second over a sliding window, published by a small reporter."""

    def __init__(self, window=50, interval=2.0):
        self.window = deque(maxlen=window)
        self.interval = interval
        self.samples = 0

    def on_train_begin(self, trainer):
        if trainer.is_main:
            self.guard = threading.Lock()
            reporter = threading.Thread(target=self._report, args=(trainer,), daemon=True)
            reporter.start()

    def _report(self, trainer):
        while not trainer.finished:
            time.sleep(self.interval)
            with self.guard:
                if len(self.window) > 1:
                    rate = len(self.window) / (self.window[-1] - self.window[0])
                    trainer.print(f"{rate:.1f} steps/s")

    def on_step_end(self, trainer, loss):
        self.samples += trainer.batch_size
        if trainer.is_main:
            with self.guard:
                self.window.append(time.monotonic())


REGISTRY = {c.__name__: c for c in (LossMeter, LrTracker, ThroughputMonitor)}
