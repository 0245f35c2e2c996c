import torch.distributed as dist
import torch.distributed.checkpoint as dcp


class Saver:
    def __init__(self):
        self.pending = None

    def save(self, state, step):
        if self.pending is not None:
            self.pending.result()
        self.pending = dcp.async_save(state, checkpoint_id=f"out/{step}")


def begin(state):
    return dcp.async_save(state, checkpoint_id="out/first")


def save_last(state, saver):
    saver.save(state, "last")
    future = begin(state)
    future.add_done_callback(print)
    dcp.save(state, checkpoint_id="out/again")
    future.result()
    saver.pending.result()
    dist.destroy_process_group()
