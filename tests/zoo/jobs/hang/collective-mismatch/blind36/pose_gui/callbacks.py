"""Callbacks of the pose trainer."""
import json
import logging
import socket

import torch.distributed as dist

log = logging.getLogger("pose")


class Callback:
    def on_fit_start(self, trainer): ...
    def on_train_batch_end(self, trainer, batch_idx, loss): ...
    def on_epoch_end(self, trainer, metrics): ...
    def on_fit_end(self, trainer): ...


class ProgressReporter(Callback):
    """Publishes losses to the user interface."""

    def __init__(self, port):
        self.address = ("127.0.0.1", port)
        self.sock = None

    def on_fit_start(self, trainer):
        if trainer.is_global_zero:
            self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def on_train_batch_end(self, trainer, batch_idx, loss):
        if self.sock is not None:
            message = {"event": "batch", "step": trainer.global_step, "loss": loss}
            self.sock.sendto(json.dumps(message).encode(), self.address)


class TrainingController(Callback):
    """Listens for commands (stop, set_lr) of the user interface."""

    def __init__(self, port, poll_every=1):
        self.port = port
        self.poll_every = poll_every
        self.sock = None

    def on_fit_start(self, trainer):
        if trainer.is_global_zero:
            self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.sock.bind(("127.0.0.1", self.port))
            self.sock.setblocking(False)

    def _poll(self):
        try:
            return json.loads(self.sock.recv(4096))
        except BlockingIOError:
            return None

    def on_train_batch_end(self, trainer, batch_idx, loss):
        if trainer.global_step % self.poll_every:
            return
        if trainer.is_global_zero:
            command = self._poll()
            if command and command["command"] == "stop":
                log.info("stop requested at step %d", trainer.global_step)
                trainer.should_stop = True
            elif command and command["command"] == "set_lr":
                trainer.pending_lr = command["lr"]
        dist.barrier()

    def on_fit_end(self, trainer):
        if self.sock is not None:
            self.sock.close()
