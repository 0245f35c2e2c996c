import threading

import torch.distributed as dist


class BackgroundSaver:
    """Plans checkpoints on a thread, with collectives on a group of its own."""

    def __init__(self):
        self.group = dist.new_group(backend="gloo")
        self.thread, self.saved = None, []

    def _run(self, step, digest):
        digests = [None] * dist.get_world_size()
        dist.all_gather_object(digests, digest, group=self.group)
        self.saved.append((step, len(set(digests)) == 1))

    def save(self, step, digest):
        self.wait()
        self.thread = threading.Thread(target=self._run, args=(step, digest))
        self.thread.start()

    def wait(self):
        if self.thread is not None:
            self.thread.join()
