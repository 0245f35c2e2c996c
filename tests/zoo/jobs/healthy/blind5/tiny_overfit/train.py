"""Sanity run before the real one: can three ranks learn five recordings by heart?"""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class FiveRecordings(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(64)
        self.wave = torch.randn(5, 1, 80, generator=g)
        self.mask = (torch.rand(5, 20, generator=g) > 0.5).float()

    def __len__(self):
        return len(self.wave)

    def __getitem__(self, i):
        return self.wave[i], self.mask[i]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 24, 7, stride=2, padding=3)
        self.gn = nn.GroupNorm(4, 24)
        self.conv2 = nn.Conv1d(24, 48, 5, stride=2, padding=2)
        self.out = nn.Conv1d(48, 1, 5, padding=2)

    def forward(self, wave):
        x = torch.relu(self.gn(self.conv1(wave)))
        return self.out(torch.relu(self.conv2(x))).squeeze(1)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(21)
    dataset = FiveRecordings()
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=2, sampler=sampler)
    model = DDP(Detector())
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(60):
        sampler.set_epoch(epoch)
        for wave, mask in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(wave), mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 15 == 14 and rank == 0:
            with torch.no_grad():
                hit = ((model.module(dataset.wave) > 0).float() == dataset.mask).float().mean().item()
            print(f"epoch {epoch + 1}: loss {loss.item():.4f} frames right {hit:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
