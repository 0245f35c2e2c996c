import string


class CharTokenizer:
    def __init__(self, alphabet=string.ascii_lowercase + " '"):
        self.table = {c: i + 1 for i, c in enumerate(alphabet)}

    @property
    def size(self):
        return len(self.table) + 1

    def encode(self, sentence):
        return [self.table[c] for c in sentence.lower()]
