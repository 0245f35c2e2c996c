"""Samplers of batches for trials on several slots."""


class BatchSampler:
    def __init__(self, size, batch_size):
        self.size, self.batch_size = size, batch_size

    def __iter__(self):
        for start in range(0, self.size, self.batch_size):
            yield list(range(start, min(start + self.batch_size, self.size)))

    def __len__(self):
        return -(-self.size // self.batch_size)


class RepeatBatchSampler:
    """Starts again where the batches end."""

    def __init__(self, batch_sampler):
        self.batch_sampler = batch_sampler

    def __iter__(self):
        while True:
            yield from self.batch_sampler

    def __len__(self):
        return len(self.batch_sampler)


class DistributedBatchSampler:
    """Every num_workers-th batch belongs to this worker."""

    def __init__(self, batch_sampler, num_workers, rank):
        self.batch_sampler = batch_sampler
        self.num_workers, self.rank = num_workers, rank

    def __iter__(self):
        if isinstance(self.batch_sampler, RepeatBatchSampler):
            for number, batch in enumerate(self.batch_sampler):
                if number % self.num_workers == self.rank:
                    yield batch
        else:
            yield from list(self.batch_sampler)[self.rank :: self.num_workers]

    def __len__(self):
        full_global_batches = len(self.batch_sampler) // self.num_workers
        worker_gets_partial_batch = int(len(self.batch_sampler) % self.num_workers > self.rank)
        return full_global_batches + worker_gets_partial_batch
