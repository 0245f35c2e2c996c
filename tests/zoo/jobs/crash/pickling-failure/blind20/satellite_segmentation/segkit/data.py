import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class TileDataset(Dataset):
    """Synthetic multispectral tiles: a few rectangles of land cover over noise."""

    def __init__(self, tiles, size, bands, classes, seed):
        g = torch.Generator().manual_seed(seed)
        self.masks = torch.zeros(tiles, size, size, dtype=torch.long)
        self.palette = torch.randn(classes, bands, generator=g)
        corners = torch.randint(0, size // 2, (tiles, classes - 1, 2), generator=g)
        extents = torch.randint(4, size // 2, (tiles, classes - 1, 2), generator=g)
        for t in range(tiles):
            for c in range(classes - 1):
                (y, x), (h, w) = corners[t, c].tolist(), extents[t, c].tolist()
                self.masks[t, y:y + h, x:x + w] = c + 1
        self.noise = torch.randn(tiles, bands, size, size, generator=g) * 0.4

    def __len__(self):
        return len(self.masks)

    def __getitem__(self, index):
        mask = self.masks[index]
        image = self.palette[mask].permute(2, 0, 1) + self.noise[index]
        return image, mask


def build_loader(cfg, rank, world):
    d = cfg.data
    dataset = TileDataset(d["tiles"], d["size"], d["bands"], d["classes"], cfg.seed)
    sampler = DistributedSampler(dataset, world, rank, shuffle=True, seed=cfg.seed)
    return DataLoader(dataset, d["batch_size"], sampler=sampler, drop_last=True), sampler
