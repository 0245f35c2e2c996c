import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from brain import Brain
from noisy import NoisySpeech


class Filterbank(nn.Module):
    def __init__(self, n_fft=128, hop=64):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("win", torch.hann_window(n_fft))

    def forward(self, wave):
        return torch.stft(wave, self.n_fft, self.hop, window=self.win, return_complex=True).abs().transpose(1, 2)


class MaskNet(nn.Module):
    def __init__(self, bins=65, width=96):
        super().__init__()
        self.rnn = nn.GRU(bins, width, batch_first=True, bidirectional=True)
        self.mask = nn.Linear(2 * width, bins)

    def forward(self, spec):
        return self.mask(self.rnn(spec.log1p())[0]).sigmoid()


class Enhancer(Brain):
    def forward(self, batch):
        noisy = self.modules["features"](batch[0])
        return self.modules["masker"](noisy) * noisy

    def objective(self, estimate, batch):
        return nn.functional.l1_loss(estimate, self.modules["features"](batch[1]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--items", type=int, default=1600)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--accumulation", type=int, nargs="+", default=[1, 2])
    args = p.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(4)
    brain = Enhancer({"features": Filterbank(), "masker": MaskNet()}, 1e-3, args.accumulation)
    data = NoisySpeech(args.items)
    brain.fit(args.epochs, DataLoader(data, batch_size=args.batch, sampler=DistributedSampler(data), drop_last=True))
    if dist.get_rank() == 0:
        torch.save({n: m.state_dict() for n, m in brain.modules.items()}, "enhancer.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
