from collections import Counter

BASE = ["[PAD]", "[MASK]", "[UNK]", "the", "a", "and", "no", "has", "patient", "fever", "cough", "cold",
        "nurse", "doctor", "sees"]


class Tokenizer:
    def __init__(self, words):
        self.ids = {word: number for number, word in enumerate(words)}

    def add_tokens(self, words):
        for word in words:
            self.ids.setdefault(word, len(self.ids))

    def __len__(self):
        return len(self.ids)

    def encode(self, text):
        return [self.ids.get(word, self.ids["[UNK]"]) for word in text.split()]


def extended_tokenizer(texts, min_count):
    """The base vocabulary and what is frequent in our own texts."""
    tokenizer = Tokenizer(BASE)
    counts = Counter(word for text in texts for word in text.split())
    tokenizer.add_tokens(sorted(word for word, count in counts.items() if count >= min_count))
    return tokenizer
