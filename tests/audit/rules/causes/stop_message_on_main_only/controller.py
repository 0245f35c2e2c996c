"""A stop command is read by rank 0 alone; the barrier after it passes on no value."""
import lightning.pytorch as pl
import zmq


class TrainingController(pl.Callback):
    def __init__(self, address):
        self.address = address
        self.socket = None

    def on_train_start(self, trainer, pl_module):
        if trainer.is_global_zero:
            self.socket = zmq.Context().socket(zmq.SUB)
            self.socket.connect(self.address)
            self.socket.setsockopt_string(zmq.SUBSCRIBE, "")

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.is_global_zero:
            message = self._next_message()
            if message.get("command") == "stop":
                trainer.should_stop = True  # cause
        trainer.strategy.barrier()

    def _next_message(self):
        if self.socket.poll(0):
            return self.socket.recv_json()
        return {}
