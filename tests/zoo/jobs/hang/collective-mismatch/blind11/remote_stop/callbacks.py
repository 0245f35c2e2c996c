import json
import pathlib


class Callback:
    def on_train_start(self, trainer): ...
    def on_batch_end(self, trainer, step): ...
    def on_train_end(self, trainer): ...


class LossLog(Callback):
    def on_batch_end(self, trainer, step):
        if trainer.is_global_zero and step % 5 == 0:
            print(f"step {step} loss {trainer.last_loss:.4f}", flush=True)


class RemoteController(Callback):
    """Takes commands that the web interface appends to a file."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.seen = 0

    def poll(self, step):
        lines = self.path.read_text().splitlines()
        for line in lines[self.seen:]:
            message = json.loads(line)
            if message["after_step"] > step:
                return None
            self.seen += 1
            return message["command"]
        return None

    def on_batch_end(self, trainer, step):
        if trainer.is_global_zero:
            command = self.poll(step)
            if command == "stop":
                print("controller: stop requested", flush=True)
                trainer.should_stop = True
            elif command == "lower_lr":
                print("controller: lower_lr ignored", flush=True)
        trainer.barrier()
