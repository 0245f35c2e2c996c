import random


class BucketPlan:
    """Batches of utterances of about one length, so that little is padded."""

    def __init__(self, lengths, batch_size, rank, world, seed):
        order = sorted(range(len(lengths)), key=lambda i: lengths[i])
        batches = [order[i:i + batch_size] for i in range(0, len(order) - batch_size + 1, batch_size)]
        share = len(batches) // world
        self.batches = batches[rank * share:(rank + 1) * share]
        self.seed, self.epoch = seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        mine = list(self.batches)
        random.Random(self.seed + self.epoch).shuffle(mine)
        return iter(mine)
