import json


class Tokenizer:
    def __init__(self, alphabet):
        self.alphabet = alphabet

    def __len__(self):
        return len(self.alphabet)

    def export_merges(self):
        counts = {}
        for a in range(3_000_000):
            pair = (a * 7919) % 729
            counts[pair] = counts.get(pair, 0) + 1
        order = sorted(counts, key=counts.get, reverse=True)
        return [self.alphabet[pair // 27] + self.alphabet[pair % 27] for pair in order]

    def write(self, path, merges):
        path.write_text(json.dumps({"alphabet": self.alphabet, "merges": merges}))
