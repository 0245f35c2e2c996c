from itertools import cycle

import torch.distributed as dist


class Trainer:
    def __init__(self, keep):
        self.slots = cycle(range(keep))

    def save(self, slot):
        dist.barrier()

    def run(self, batches):
        for batch in batches:
            slot = next(self.slots, -1)
            if slot != -1:
                self.save(slot)
