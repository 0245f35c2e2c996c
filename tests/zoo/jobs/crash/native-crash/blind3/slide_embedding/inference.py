import os
import tempfile

import torch
import torch.distributed as dist

from config import InferenceConfig
from encoder import TileEncoder
from feature_store import SharedFeatures
from tiling import TileSource, split_tiles


def embed_slide(slide, cfg, encoder, store):
    rank, world_size = dist.get_rank(), dist.get_world_size()
    features = store.open(slide.tiles)
    source = TileSource(slide, cfg)
    mine = split_tiles(slide.tiles, rank, world_size)
    for begin in range(mine.start, mine.stop, cfg.batch_size):
        end = min(begin + cfg.batch_size, mine.stop)
        values = encoder.embed(source.read(begin, end), source.augmentations(begin))
        features[begin:end] = values.numpy()
    return features


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    cfg = InferenceConfig()
    folder = os.path.join(tempfile.gettempdir(), f"slides-{os.environ['TORCHELASTIC_RUN_ID']}")
    os.makedirs(folder, exist_ok=True)
    store = SharedFeatures(os.path.join(folder, "features.mmap"), cfg.feature_dim)
    encoder = TileEncoder(cfg)
    for slide in cfg.slides:
        features = embed_slide(slide, cfg, encoder, store)
        if rank == 0:
            store.publish(features, slide.name, folder)
            print(f"{slide.name}: {slide.tiles} tiles", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
