class MegatronPretrainingSampler:

    def __init__(self, total_samples, micro_batch_size, rank, world_size, consumed_samples=0):
        self.total, self.micro_batch_size = total_samples, micro_batch_size
        self.rank, self.world_size = rank, world_size
        self.consumed = consumed_samples

    def __iter__(self):
        global_batch = self.micro_batch_size * self.world_size
        for start in range(self.consumed, self.total - global_batch + 1, global_batch):
            first = start + self.rank * self.micro_batch_size
            yield list(range(first, first + self.micro_batch_size))
