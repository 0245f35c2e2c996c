import time

from torch.distributed.checkpoint import FileSystemWriter


class SlowWriter(FileSystemWriter):
    """The network file system of this cluster on a Monday."""

    def write_data(self, plan, planner):
        time.sleep(14)
        return super().write_data(plan, planner)
