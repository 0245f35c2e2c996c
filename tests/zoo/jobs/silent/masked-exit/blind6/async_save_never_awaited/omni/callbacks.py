import torch.distributed as dist


class Callback:
    def on_step_end(self, trainer):
        pass

    def on_train_end(self, trainer):
        pass


class ProgressCallback(Callback):
    def __init__(self, every):
        self.every = every

    def on_step_end(self, trainer):
        if trainer.step % self.every == 0 and dist.get_rank() == 0:
            print(f"step {trainer.step} loss {trainer.loss:.4f}", flush=True)


class CheckpointCallback(Callback):
    def __init__(self, checkpointer, every):
        self.checkpointer, self.every = checkpointer, every

    def on_step_end(self, trainer):
        if trainer.step % self.every == 0 and dist.get_rank() == 0:
            self.checkpointer.save(trainer.state(), trainer.step)
