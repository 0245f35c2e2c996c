import random

INTENTS = {
    "greet": "hello hi morning evening hey",
    "order": "buy cart order purchase ship",
    "refund": "refund money return broken claim",
    "track": "where parcel tracking late arrive",
    "cancel": "cancel stop undo abort drop",
    "account": "password login account email profile",
}
FILLER = "please the a my can you i want to with for it".split()


def utterances(n, seed):
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        intent = rng.choice(sorted(INTENTS))
        words = rng.sample(INTENTS[intent].split(), 2) + rng.sample(FILLER, 4)
        rng.shuffle(words)
        rows.append((" ".join(words), intent))
    return rows


class Codec:
    def __init__(self, rows):
        words = {w for text, _ in rows for w in text.split()}
        self.word_id = {w: i + 1 for i, w in enumerate(sorted(words))}
        self.labels = list({label for _, label in rows})
        self.label_id = {label: i for i, label in enumerate(self.labels)}

    def encode(self, text, length=8):
        ids = [self.word_id.get(w, 0) for w in text.split()][:length]
        return ids + [0] * (length - len(ids))
