import math

import torch
from torch.utils.data import Dataset

from eeg.telemetry import TELEMETRY


class MotorImagery(Dataset):
    def __init__(self, trials, channels, samples, seed):
        self.trials, self.channels, self.samples, self.seed = trials, channels, samples, seed

    def __len__(self):
        return self.trials

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(self.seed * 1009 + index)
        label = index % 2
        signal = torch.randn(self.channels, self.samples, generator=g)
        rhythm = torch.sin(torch.arange(self.samples) / self.samples * 2 * math.pi * (10 + 8 * label))
        signal[label::2] += rhythm
        if signal.abs().max() > 4.5:
            TELEMETRY.count("artifacts")
            signal = signal.clamp(-4.5, 4.5)
        TELEMETRY.count("trials")
        return signal, label
