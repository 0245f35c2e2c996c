import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torchaudio
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Clips(Dataset):
    def __init__(self, manifest, length=160000):
        with open(manifest) as f:
            self.paths = [line.split("\t")[0] for line in f]
        self.length = length

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        wave, _ = torchaudio.load(self.paths[i])
        wave = wave[0, : self.length]
        return nn.functional.pad(wave, (0, self.length - len(wave)))


class Contrast(nn.Module):
    def __init__(self, dim=512):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, dim, 10, 5), nn.GELU(), nn.Conv1d(dim, dim, 8, 4), nn.GELU(),
                                  nn.Conv1d(dim, dim, 4, 16))
        self.context = nn.GRU(dim, dim, batch_first=True)
        self.predict = nn.Linear(dim, dim)

    def forward(self, wave):
        z = self.conv(wave.unsqueeze(1)).transpose(1, 2)
        c = self.predict(self.context(z)[0])[:, :-1]
        scores = torch.einsum("btd,bsd->bts", c, z[:, 1:])
        target = torch.arange(scores.size(1), device=wave.device).expand(len(wave), -1)
        return nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--manifest", required=True)
    p.add_argument("--epochs", type=int, default=50)
    a = p.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    torch.manual_seed(4)
    clips = Clips(a.manifest)
    sampler = DistributedSampler(clips)
    loader = DataLoader(clips, 8, sampler=sampler, num_workers=8, drop_last=True)
    model = DistributedDataParallel(Contrast().cuda(), device_ids=[gpu])
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for wave in loader:
            loss = model(wave.cuda(non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item(), flush=True)
            torch.save(model.module.state_dict(), "w2v.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
