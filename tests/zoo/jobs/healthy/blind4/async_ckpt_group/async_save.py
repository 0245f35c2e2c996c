"""Saves in the background, each rank its own part."""
import json
import os
import threading
import time

import torch
import torch.distributed as dist


class AsyncCheckpointer:
    """The background thread talks over a group that nobody else uses."""

    def __init__(self, folder, rank):
        self.folder, self.rank = folder, rank
        self.group = dist.new_group(backend="gloo")
        self.thread = None
        self.error = None
        self.finished = []

    def wait(self):
        if self.thread is not None:
            self.thread.join()
            self.thread = None
        if self.error is not None:
            raise self.error

    def save(self, step, tensors):
        self.wait()
        staged = {name: value.detach().clone() for name, value in tensors.items()}
        self.thread = threading.Thread(target=self._run, args=(step, staged), name="AsyncCheckpointExecutor_0")
        self.thread.start()

    def _plan(self, staged):
        world = dist.get_world_size(self.group)
        names = sorted(staged)[self.rank :: world]
        plans = [None] * world
        dist.all_gather_object(plans, names, group=self.group)
        return names, plans

    def _run(self, step, staged):
        try:
            names, plans = self._plan(staged)
            time.sleep(0.8 if self.rank == 0 else 0.1)
            part = os.path.join(self.folder, f"step{step}_rank{self.rank}.pt")
            torch.save({name: staged[name] for name in names}, part + ".incomplete")
            os.replace(part + ".incomplete", part)
            dist.barrier(group=self.group)
            if self.rank == 0:
                with open(os.path.join(self.folder, "latest.json"), "w") as handle:
                    json.dump({"step": step, "plans": plans}, handle)
            self.finished.append(step)
        except Exception as error:
            self.error = error

    def close(self):
        self.wait()
        dist.barrier(group=self.group)
