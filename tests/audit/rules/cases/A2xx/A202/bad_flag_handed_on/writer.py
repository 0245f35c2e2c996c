import json
import torch.distributed as dist
from queue import Queue
from threading import Thread
from accelerate.utils import gather_object


class LineWriter:
    """Writes rows; gathers them from all ranks first only where it is asked to."""

    def __init__(self, path, *, in_background=False):
        self.path = path
        self.in_background = in_background
        self.rows = Queue()
        self.thread = None

    def _work(self):
        while True:
            self._append(**self.rows.get())

    def _append(self, row, gather=False):
        rows = [row]
        if gather and dist.is_initialized():
            rows = gather_object(rows)
        with open(self.path, "a") as file:
            file.writelines(json.dumps(one) + "\n" for one in rows)

    def append(self, row, gather=False):
        if self.in_background:
            if self.thread is None:
                self.thread = Thread(target=self._work, daemon=True)
                self.thread.start()
            self.rows.put({"row": row, "gather": gather})
        else:
            self._append(row, gather=gather)


class Job:
    def __init__(self, in_background):
        self.writer = LineWriter("log.jsonl", in_background=in_background)

    def count(self, rows):
        for row in rows:
            self.writer.append(row, gather=True)

    def log(self, step, gather=True):
        if dist.get_rank() == 0:
            self.writer.append({"step": step}, gather)

    def run(self, steps):
        for step in range(steps):
            self.log(step)
