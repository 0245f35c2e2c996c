import asyncio

import torch.distributed as dist

from tasks import TextEmbedding


class Runner:
    def __init__(self, cfg, engine, stream, rank):
        self.cfg, self.engine, self.stream, self.rank = cfg, engine, stream, rank
        self._maybe_queue, self._queue = [], []
        self.finished = 0

    def agree_on_tasks(self):
        """Only what has arrived on every node may start."""
        views = [None] * dist.get_world_size()
        dist.all_gather_object(views, self._maybe_queue)
        agreed = sorted(set.intersection(*map(set, views)), key=lambda task: task.task_id)
        self._queue.extend(task for task in self._maybe_queue if task in agreed)
        self._maybe_queue = [task for task in self._maybe_queue if task not in agreed]

    def execute(self, task):
        if isinstance(task, TextEmbedding):
            return self.engine.embed(task)
        return self.engine.generate(task)

    async def run(self, expected):
        while self.finished < expected:
            await asyncio.sleep(self.cfg.poll_seconds)
            self._maybe_queue.extend(self.stream.drain())
            self.agree_on_tasks()
            while self._queue:
                task = self._queue.pop(0)
                result = self.execute(task)
                self.finished += 1
                if self.rank == 0:
                    print(f"{task.task_id}: {result:.4g}", flush=True)
