import random


class DynamicBucketingSampler:
    """Batches of about the same duration; their number differs from rank to rank."""

    def __init__(self, params, rank):
        chooser = random.Random(params.seed)
        cuts = [(i, chooser.uniform(1, 9)) for i in range(160)]
        # speakers are assigned to ranks: the second one got only the short sessions
        self.cuts = cuts[:130] if rank == 0 else cuts[130:]
        self.max_duration = params.max_duration

    def __iter__(self):
        batch, total = [], 0.0
        for number, duration in sorted(self.cuts, key=lambda cut: cut[1]):
            if batch and total + duration > self.max_duration:
                yield batch
                batch, total = [], 0.0
            batch.append(number)
            total += duration
        if batch:
            yield batch
