import os
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist


class Callback:
    def on_step_end(self, trainer):
        pass

    def on_train_end(self, trainer):
        pass


class CheckpointerCallback(Callback):
    def __init__(self, output, save_steps, hf_weights=False):
        self.output, self.save_steps, self.hf_weights = output, save_steps, hf_weights
        self.executor = ThreadPoolExecutor(1)
        self.future = None

    def _write(self, step, state):
        folder = os.path.join(self.output, "checkpoints", f"global_step_{step}")
        with open(os.path.join(folder, "model.pt"), "wb") as f:
            torch.save(state, f)

    def wait_for_pending_save(self):
        if self.future is not None:
            self.future.result()
            self.future = None

    def on_step_end(self, trainer):
        if trainer.step % self.save_steps == 0 and dist.get_rank() == 0:
            self.wait_for_pending_save()
            state = {k: v.clone() for k, v in trainer.model.module.state_dict().items()}
            self.future = self.executor.submit(self._write, trainer.step, state)


class LogCallback(Callback):
    def on_step_end(self, trainer):
        if trainer.step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {trainer.step} loss {trainer.loss:.4f}", flush=True)

    def on_train_end(self, trainer):
        if dist.get_rank() == 0:
            print("training done", flush=True)
