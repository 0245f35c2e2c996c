import torch
from torch.utils.data import Dataset


class Spectrograms(Dataset):
    def __init__(self, index, device, n_fft=1024, hop=256):
        self.rows = torch.load(index, map_location="cpu", weights_only=True)
        self.window = torch.hann_window(n_fft, device=device)  # cause
        self.device = device  # cause
        self.n_fft, self.hop = n_fft, hop

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        wave = row["wave"].to(self.device)  # cause
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True)
        return spec.abs().clamp(min=1e-5).log(), row["label"]
