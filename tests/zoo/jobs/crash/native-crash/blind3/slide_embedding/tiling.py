import torch


class TileSource:
    """Tiles of one slide; tissue lies in the lower part, and is denser there."""

    def __init__(self, slide, cfg):
        self.slide, self.cfg = slide, cfg

    def read(self, begin, end):
        generator = torch.Generator().manual_seed(self.cfg.seed + begin)
        side = self.cfg.tile_side
        return torch.rand(end - begin, 3, side, side, generator=generator)

    def augmentations(self, begin):
        return 1 if begin < self.slide.tiles // 2 else 6


def split_tiles(total, rank, world_size):
    share = -(-total // world_size)
    return range(min(rank * share, total), min((rank + 1) * share, total))
