import copy
import os
import threading

import torch
import torch.distributed as dist


class BackgroundSaver:
    """Writes snapshots in a thread; its collectives run on a group of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.group = dist.new_group(backend="gloo")
        self.thread = None

    def _write(self, state, step):
        if dist.get_rank() == 0:
            tmp = os.path.join(self.folder, "snapshot.tmp")
            torch.save(state, tmp)
            os.replace(tmp, os.path.join(self.folder, "snapshot.pt"))
        dist.barrier(group=self.group)

    def save(self, state, step):
        self.wait()
        self.thread = threading.Thread(target=self._write, args=(copy.deepcopy(state), step), daemon=False)
        self.thread.start()

    def wait(self):
        if self.thread is not None:
            self.thread.join()
            self.thread = None

    def load(self):
        path = os.path.join(self.folder, "snapshot.pt")
        box = [None]
        if dist.get_rank() == 0 and os.path.exists(path):
            box = [torch.load(path, weights_only=True)]
        dist.broadcast_object_list(box, src=0)
        return box[0]
