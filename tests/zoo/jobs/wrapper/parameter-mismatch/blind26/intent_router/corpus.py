import random
from collections import Counter

INTENTS = {
    "weather": "is it going to rain snow in tomorrow today forecast for".split(),
    "music": "play the song album by artist next shuffle".split(),
    "alarm": "wake me set an alarm at for cancel".split(),
    "travel": "book a flight train hotel to from on".split(),
}


def utterances(n, seed):
    rng = random.Random(seed)
    names = [f"name{k}" for k in range(700)]
    rows = []
    for _ in range(n):
        intent = rng.choice(list(INTENTS))
        words = rng.choices(INTENTS[intent], k=rng.randint(3, 6)) + [rng.choice(names)]
        rng.shuffle(words)
        rows.append((" ".join(words), list(INTENTS).index(intent)))
    return rows


class Vocab:
    def __init__(self, texts, min_count=1):
        counts = Counter(w for t in texts for w in t.split())
        self.itos = ["<pad>", "<unk>"] + sorted(w for w, c in counts.items() if c >= min_count)
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __call__(self, text, length=8):
        ids = [self.stoi.get(w, 1) for w in text.split()][:length]
        return ids + [0] * (length - len(ids))

    def __len__(self):
        return len(self.itos)
