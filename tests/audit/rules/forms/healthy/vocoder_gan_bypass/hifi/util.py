import torch
from torch.nn.parallel import DistributedDataParallel


def unwrap(m):
    return m.module if isinstance(m, DistributedDataParallel) else m


def toggle(m, flag):
    for p in m.parameters():
        p.requires_grad_(flag)


def mel(wave, n_fft=1024, hop=256):
    window = torch.hann_window(n_fft, device=wave.device)
    spec = torch.stft(wave.squeeze(1), n_fft, hop, window=window, return_complex=True)
    return spec.abs().clamp(min=1e-5).log()
