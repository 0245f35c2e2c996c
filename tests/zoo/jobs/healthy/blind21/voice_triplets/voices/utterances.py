import numpy as np
import torch
from torch.utils.data import Dataset, Sampler


class Utterances(Dataset):
    """Spectral features of speakers; utterances of one speaker share formants."""

    def __init__(self, speakers, per_speaker, seed, features=40, table_seed=8):
        table = np.random.default_rng(table_seed).standard_normal((400, features))
        rng = np.random.default_rng(seed)
        chosen = rng.choice(400, speakers, replace=False)
        self.speaker = np.repeat(np.arange(speakers), per_speaker)
        x = table[chosen][self.speaker] + 0.6 * rng.standard_normal((len(self.speaker), features))
        self.x = torch.tensor(x, dtype=torch.float32)

    def __len__(self):
        return len(self.speaker)

    def __getitem__(self, i):
        return self.x[i], int(self.speaker[i])


class SpeakerBatches(Sampler):
    """P speakers with K utterances each; each rank goes through batches of its own."""

    def __init__(self, speaker, p, k, batches, rank, seed):
        self.by_speaker = [np.flatnonzero(speaker == s) for s in range(speaker.max() + 1)]
        self.p, self.k, self.batches = p, k, batches
        self.rank, self.seed, self.epoch = rank, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return self.batches

    def __iter__(self):
        rng = np.random.default_rng([self.seed, self.epoch, self.rank])
        for _ in range(self.batches):
            speakers = rng.choice(len(self.by_speaker), self.p, replace=False)
            yield np.concatenate([rng.choice(self.by_speaker[s], self.k, replace=False) for s in speakers]).tolist()
