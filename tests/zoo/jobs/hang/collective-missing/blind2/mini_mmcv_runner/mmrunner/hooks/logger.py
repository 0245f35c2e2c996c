import resource

import torch
import torch.distributed as dist

from .hook import Hook


class TextLoggerHook(Hook):

    def __init__(self, interval=4):
        self.interval = interval

    def before_epoch(self, runner):
        runner.log_buffer.clear()

    def after_train_iter(self, runner):
        if self.every_n_inner_iters(runner, self.interval):
            runner.log_buffer.average(self.interval)
        if runner.log_buffer.ready:
            self.log(runner)
            runner.log_buffer.clear_output()

    def after_train_epoch(self, runner):
        if runner.log_buffer.ready:
            self.log(runner)
            runner.log_buffer.clear_output()

    def _get_max_memory(self, runner):
        mem_mb = torch.tensor([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024], dtype=torch.int)
        if runner.world_size > 1:
            dist.reduce(mem_mb, 0, op=dist.ReduceOp.MAX)
        return mem_mb.item()

    def log(self, runner):
        items = {"epoch": runner.epoch + 1, "iter": runner.inner_iter + 1}
        items["memory"] = self._get_max_memory(runner)
        items.update({k: round(float(v), 4) for k, v in runner.log_buffer.output.items()})
        if runner.rank == 0:
            print(", ".join(f"{k}: {v}" for k, v in items.items()), flush=True)
