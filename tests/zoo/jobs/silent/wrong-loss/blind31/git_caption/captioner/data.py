import torch
from torch.utils.data import Dataset

COLORS = {"red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "white": (1, 1, 1)}
SHAPES = ("bar", "dot", "row", "block")
PLACES = ("left", "right", "top", "bottom")
WORDS = ["<pad>", "<s>", "</s>", "a", "small", "large", "on", "the", "there", "is", "side"] \
    + list(COLORS) + list(SHAPES) + list(PLACES)
INDEX = {w: i for i, w in enumerate(WORDS)}
BOS, EOS, PAD = INDEX["<s>"], INDEX["</s>"], INDEX["<pad>"]


def render(color, shape, place, g):
    img = torch.rand(3, 8, 8, generator=g) * 0.2
    c = torch.tensor(COLORS[color], dtype=torch.float32).view(3, 1, 1)
    h, w = {"bar": (3, 1), "dot": (1, 1), "row": (1, 3), "block": (3, 3)}[shape]
    y, x = {"left": (3, 0), "right": (3, 5), "top": (0, 3), "bottom": (5, 3)}[place]
    img[:, y:y + h, x:x + w] += c
    return img


class Captions(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        pick = lambda seq: seq[int(torch.randint(len(seq), (1,), generator=g))]
        for _ in range(n):
            c, s, p = pick(list(COLORS)), pick(SHAPES), pick(PLACES)
            size = "large" if s == "block" else "small"
            words = ["a", size, c, s, "on", "the", p]
            if torch.rand(1, generator=g) < 0.5:
                words = ["there", "is"] + words + ["side"]
            self.items.append((render(c, s, p, g), [BOS] + [INDEX[w] for w in words] + [EOS]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    n = max(len(t) for _, t in batch)
    ids = torch.full((len(batch), n), PAD)
    labels = torch.full((len(batch), n), -100)
    for i, (_, t) in enumerate(batch):
        ids[i, : len(t)] = torch.tensor(t)
        labels[i, : len(t)] = torch.tensor(t)
    return torch.stack([p for p, _ in batch]), ids, labels
