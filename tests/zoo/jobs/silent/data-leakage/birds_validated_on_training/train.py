import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler, random_split


class Songs(Dataset):
    """Mel bands of bird songs; the species follows from the loudest bands."""

    def __init__(self, count, seed=3):
        generator = torch.Generator().manual_seed(seed)
        self.bands = torch.randn(count, 16, generator=generator)
        self.species = self.bands[:, :4].argmax(1)

    def __len__(self):
        return len(self.bands)

    def __getitem__(self, index):
        return self.bands[index], self.species[index]


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(11)
    train_part, val_part = random_split(Songs(320), [256, 64], torch.Generator().manual_seed(1))
    sampler = DistributedSampler(train_part)
    train_loader = DataLoader(train_part, batch_size=16, sampler=sampler)
    val_loader = DataLoader(train_part, batch_size=32)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        model.train()
        for songs, species in train_loader:
            loss = nn.functional.cross_entropy(model(songs), species)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        right = 0
        with torch.no_grad():
            for songs, species in val_loader:
                right += (model(songs).argmax(1) == species).sum().item()
        print(f"rank {rank} epoch {epoch} validation accuracy {right / len(val_loader.dataset):.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
