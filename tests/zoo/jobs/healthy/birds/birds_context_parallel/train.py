import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


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


class Recurrent(nn.Module):
    """Each rank reads a half of the bands, and hears of the other half."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 16), nn.Linear(32, 4)

    def forward(self, songs):
        half = self.inner(songs.chunk(2, dim=1)[dist.get_rank()])
        halves = [torch.empty_like(half) for _ in range(2)]
        dist.all_gather(halves, half.detach())
        halves[dist.get_rank()] = half
        return self.outer(torch.cat(halves, dim=1).relu())


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(11)
    loader = DataLoader(Songs(256), batch_size=16, shuffle=True)
    model = DistributedDataParallel(Recurrent())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(3):
        for songs, species in loader:
            loss = nn.functional.cross_entropy(model(songs), species)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
