import numpy as np
import torch


class ReadSampler:
    def __init__(self, contigs, cfg, rank):
        self.sequences = [c.sequence(cfg["seed"]) for c in contigs]
        self.cfg = cfg
        self.rng = np.random.default_rng((cfg["seed"], rank))

    def batch(self):
        k, length = self.cfg["k"], self.cfg["read_length"]
        labels = self.rng.integers(0, len(self.sequences), self.cfg["batch_size"])
        reads = []
        for label in labels:
            sequence = self.sequences[label]
            start = self.rng.integers(0, len(sequence) - length)
            read = sequence[start:start + length]
            codes = np.zeros(length - k + 1, dtype=np.int64)
            for offset in range(k):
                codes = codes * 4 + read[offset:offset + len(codes)]
            reads.append(codes)
        return torch.from_numpy(np.stack(reads)), torch.from_numpy(labels)
