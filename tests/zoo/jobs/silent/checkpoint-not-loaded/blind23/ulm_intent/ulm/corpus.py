"""Tickets of two products. Words of a topic occur together; every product has its own favourites."""
import random

TOPICS = ["billing", "shipping", "login", "crash", "praise", "legal"]
STEMS = 60


def _lexicon():
    rng = random.Random(77)
    letters = "bcdfghklmnprstvz"
    words = set()
    while len(words) < STEMS * len(TOPICS):
        words.add("".join(rng.choice(letters) + rng.choice("aeiou") for _ in range(rng.choice((2, 3)))))
    words = sorted(words)
    rng.shuffle(words)
    return {t: words[i * STEMS:(i + 1) * STEMS] for i, t in enumerate(TOPICS)}


def tickets(product, n, seed, length=12):
    lexicon = _lexicon()
    taste = random.Random(product)
    weight = {t: [taste.random() ** 2 + 0.05 for _ in ws] for t, ws in lexicon.items()}
    rng = random.Random(f"{product}-{seed}")
    rows = []
    for _ in range(n):
        label = rng.randrange(len(TOPICS))
        words = []
        for _ in range(length):
            topic = TOPICS[label] if rng.random() < 0.45 else rng.choice(TOPICS)
            words.append(rng.choices(lexicon[topic], weight[topic])[0])
        rows.append((words, label))
    return rows
