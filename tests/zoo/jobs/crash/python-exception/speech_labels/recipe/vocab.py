class Vocabulary:
    def __init__(self, symbols):
        self.index = {s: i for i, s in enumerate(symbols)}

    def encode(self, text):
        return [self.index[c] for c in text.lower()]


LETTERS = Vocabulary(" abcdefghijklmnopqrstuvwxyz'")
