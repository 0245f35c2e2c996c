import time


class SavePolicy:
    def __init__(self, rank, every_steps, every_seconds=None):
        self.owner = rank == 0  # cause
        self.every_steps = every_steps
        self.every_seconds = every_seconds
        self.last = time.monotonic()

    def due(self, step):
        return self.owner and step > 0 and step % self.every_steps == 0  # cause


class Saver:
    def __init__(self, engine, folder, policy):
        self.engine, self.folder, self.policy = engine, folder, policy

    def __call__(self, step, loss):
        if not self.policy.due(step):  # cause
            return
        self.engine.save_checkpoint(self.folder, tag=f"step{step}", client_state={"step": step, "loss": loss})  # cause
