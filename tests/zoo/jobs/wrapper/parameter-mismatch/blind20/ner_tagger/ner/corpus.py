import random

PEOPLE = ["ada", "grace", "alan", "edsger", "barbara", "donald"]
PLACES = ["paris", "oslo", "lima", "kyoto", "cairo", "quito"]
VERBS = ["visited", "left", "described", "remembered"]
FILLERS = ["yesterday", "quickly", "with", "joy", "again", "maybe"]


class Treebank:
    """Sentences with one tag a token."""

    def __init__(self, sentences, seed, dated_from):
        rng = random.Random(seed)
        self.sentences = [self._make(rng, n >= dated_from) for n in range(sentences)]

    def _make(self, rng, dated):
        words = [(rng.choice(PEOPLE), "B-PER"), (rng.choice(VERBS), "O"), (rng.choice(PLACES), "B-LOC")]
        words += [(rng.choice(FILLERS), "O") for _ in range(rng.randint(1, 3))]
        if dated and rng.random() < 0.4:
            words += [("in", "O"), (str(rng.randint(1900, 1999)), "B-DATE")]
        return words
