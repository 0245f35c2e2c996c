import json
import logging
import os

import torch.distributed as dist

log = logging.getLogger("studio")


class Callback:
    def on_fit_start(self, trainer): ...
    def on_batch_end(self, trainer): ...
    def on_epoch_end(self, trainer): ...
    def on_fit_end(self, trainer): ...


class ProgressReporter(Callback):
    def __init__(self, every):
        self.every = every

    def on_epoch_end(self, trainer):
        if trainer.epoch % self.every == 0 and trainer.is_global_zero:
            log.info("epoch %d step %d loss %.4f", trainer.epoch, trainer.step, trainer.last_loss)


class TrainingController(Callback):
    """Takes commands of the studio's window: stop, or another learning rate."""

    def __init__(self, folder, poll_every=5):
        self.folder, self.poll_every = folder, poll_every

    def on_fit_start(self, trainer):
        if trainer.is_global_zero:
            os.makedirs(self.folder, exist_ok=True)
            with open(os.path.join(self.folder, "ready.json"), "w") as f:
                json.dump({"pid": os.getpid()}, f)

    def _receive(self):
        path = os.path.join(self.folder, "inbox.json")
        if not os.path.exists(path):
            return None
        with open(path) as f:
            message = json.load(f)
        os.remove(path)
        return message

    def on_batch_end(self, trainer):
        if trainer.step % self.poll_every:
            return
        if trainer.is_global_zero:
            message = self._receive()
            if message and message["command"] == "stop":
                log.info("stop requested at step %d", trainer.step)
                trainer.should_stop = True
            elif message and message["command"] == "set_lr":
                trainer.requested_lr = message["lr"]
        # let everybody see the command before the next batch
        dist.barrier()


class BestModel(Callback):
    def __init__(self, path):
        self.path, self.best = path, float("inf")

    def on_epoch_end(self, trainer):
        if trainer.is_global_zero and trainer.last_loss < self.best:
            self.best = trainer.last_loss
            trainer.save(self.path)
