import os

import torch


class Callback:
    def on_step(self, run):
        pass

    def on_end(self, run):
        pass


class Console(Callback):
    def __init__(self, every):
        self.every = every
        self.smooth = None

    def on_step(self, run):
        self.smooth = run.loss if self.smooth is None else 0.95 * self.smooth + 0.05 * run.loss
        if run.step % self.every == 0:
            print(f"step {run.step} loss {self.smooth:.4f}", flush=True)


class Preview(Callback):
    def __init__(self, every, folder, n=4):
        self.every, self.folder, self.n = every, folder, n
        os.makedirs(folder, exist_ok=True)

    def on_step(self, run):
        if run.step % self.every:
            return
        grid = run.diffusion.sample(run.model.module, self.n, run.size)
        torch.save(grid, os.path.join(self.folder, f"{run.step:06d}.pt"))


def default_callbacks(rank, cfg):
    if rank != 0:
        return []
    return [Console(cfg["log_every"]), Preview(cfg["preview_every"], cfg["folder"])]
