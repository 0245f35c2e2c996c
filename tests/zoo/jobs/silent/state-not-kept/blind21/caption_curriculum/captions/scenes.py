import numpy as np
import torch
from torch.utils.data import Dataset

BOS, EOS, PAD = 0, 1, 2
FIRST_TAG = 3
TAGS = 24


class SceneDataset(Dataset):
    """A feature vector of a scene and the tags in it, most salient first; only the first `tag_limit` tags are told."""

    def __init__(self, scenes, max_tags, seed, tag_limit=None):
        rng = np.random.default_rng(seed)
        table = np.random.default_rng(77).standard_normal((TAGS, 48)).astype(np.float32)
        self.tags = np.stack([rng.choice(TAGS, max_tags, replace=False) for _ in range(scenes)])
        salience = np.linspace(1.6, 0.7, max_tags, dtype=np.float32)[None, :, None]
        self.features = (table[self.tags] * salience).sum(1) + 0.1 * rng.standard_normal((scenes, 48)).astype(np.float32)
        self.max_tags = max_tags
        self.tag_limit = tag_limit or max_tags

    def set_tag_limit(self, limit):
        self.tag_limit = min(limit, self.max_tags)

    def __len__(self):
        return len(self.tags)

    def __getitem__(self, index):
        kept = [FIRST_TAG + int(t) for t in self.tags[index][: self.tag_limit]]
        caption = [BOS] + kept + [EOS]
        caption += [PAD] * (self.max_tags + 2 - len(caption))
        return torch.from_numpy(self.features[index].astype(np.float32)), torch.tensor(caption)
