import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

LETTERS = "abcdefgh"


class TextCodec:
    def __init__(self, alphabet):
        self.alphabet = alphabet
        self.index = {ch: i for i, ch in enumerate(alphabet)}

    def encode(self, text):
        return torch.tensor([self.index[ch] for ch in text])

    def greedy(self, frames):
        text, last = [], None
        for k in frames.tolist():
            if k != last and 0 < k < len(self.alphabet):
                text.append(self.alphabet[k])
            last = k
        return "".join(text)


class SpelledTones(Dataset):
    """Each letter is a tone of some frames, with short pauses between."""

    def __init__(self, count, codec, bands=16, seed=0):
        rng = np.random.default_rng(seed)
        self.codec, self.items = codec, []
        for _ in range(count):
            text = "".join(rng.choice(list(LETTERS), rng.integers(3, 7)))
            frames = []
            for ch in text:
                tone = np.zeros(bands)
                k = LETTERS.index(ch)
                tone[[k, k + 5]] = 1.0
                frames += [tone] * int(rng.integers(3, 6)) + [np.zeros(bands)] * int(rng.integers(1, 3))
            spec = np.array(frames) + rng.normal(0, 0.25, (len(frames), bands))
            self.items.append((torch.tensor(spec, dtype=torch.float32), text))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        spec, text = self.items[i]
        return spec, self.codec.encode(text), text


def collate(batch):
    specs, targets, texts = zip(*batch)
    return (pad_sequence(specs, batch_first=True), torch.tensor([len(s) for s in specs]),
            torch.cat(targets), torch.tensor([len(t) for t in targets]), texts)
