import math
import time

import torch
from torch.utils.data import Dataset


class SyntheticCorpus:
    """Stands for a folder of flac files: reading one has the latency of a file server."""

    def __init__(self, speakers=8, per_speaker=60, sr=8000, seconds=0.5, latency=0.02):
        self.sr, self.samples, self.latency = sr, int(sr * seconds), latency
        self.utts = [(s, i) for s in range(speakers) for i in range(per_speaker)]

    def read(self, utt):
        speaker, index = utt
        time.sleep(self.latency)
        t = torch.arange(self.samples) / self.sr
        f0 = 90 + 25 * speaker + (index % 7)
        wave = sum(torch.sin(2 * math.pi * f0 * k * t) / k for k in range(1, 5))
        return wave + 0.01 * torch.randn(self.samples)


class SpeakerFrames(Dataset):
    def __init__(self, utts, cache, frames=32):
        self.utts, self.cache, self.frames = utts, cache, frames

    def __len__(self):
        return len(self.utts)

    def __getitem__(self, i):
        utt = self.utts[i]
        mel = self.cache.get(utt)
        at = torch.randint(0, max(1, mel.shape[1] - self.frames), (1,)).item()
        return mel[:, at:at + self.frames], utt[0]
