import contextlib

import torch.distributed as dist


class PartialState:
    def __init__(self):
        if not dist.is_initialized():
            dist.init_process_group("gloo")
        self.process_index, self.num_processes = dist.get_rank(), dist.get_world_size()

    @property
    def is_main_process(self):
        return self.process_index == 0

    def wait_for_everyone(self):
        dist.barrier()

    @contextlib.contextmanager
    def _goes_first(self, is_main):
        if not is_main:
            self.wait_for_everyone()
        yield
        if is_main:
            self.wait_for_everyone()

    @contextlib.contextmanager
    def main_process_first(self):
        with self._goes_first(self.is_main_process):
            yield
