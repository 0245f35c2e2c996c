"""Batch samplers that hand each data parallel rank its window of a global micro batch."""


class PretrainingSampler:
    """Sequential sampler with resumption by consumed samples."""

    def __init__(self, total_samples, consumed_samples, micro_batch_size, rank, world_size, drop_last=True):
        if total_samples <= 0:
            raise ValueError("no sample to consume: {}".format(total_samples))
        if consumed_samples >= total_samples:
            raise ValueError("no samples left to consume: {}, {}".format(consumed_samples, total_samples))
        if not 0 <= rank < world_size:
            raise ValueError("rank {} outside of {}".format(rank, world_size))
        self.total_samples = total_samples
        self.consumed_samples = consumed_samples
        self.micro_batch_size = micro_batch_size
        self.rank = rank
        self.global_micro_batch = micro_batch_size * world_size
        self.drop_last = drop_last

    def __len__(self):
        available = self.total_samples - self.consumed_samples
        if self.drop_last:
            return available // self.global_micro_batch
        return -(-available // self.global_micro_batch)

    def get_start_end_idx(self):
        start = self.rank * self.micro_batch_size
        return start, start + self.micro_batch_size

    def __iter__(self):
        batch = []
        for idx in range(self.consumed_samples, self.total_samples):
            batch.append(idx)
            if len(batch) == self.global_micro_batch:
                start, end = self.get_start_end_idx()
                yield batch[start:end]
                batch = []
        if len(batch) > 0 and not self.drop_last:
            start, end = self.get_start_end_idx()
            yield batch[start:end]
