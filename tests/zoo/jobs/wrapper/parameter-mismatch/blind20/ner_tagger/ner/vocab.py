from collections import Counter


class Vocabulary:
    PAD, UNK = "<pad>", "<unk>"

    def __init__(self, token_slots):
        self.token_slots = token_slots
        self.tokens, self.tags = {}, {}

    @classmethod
    def build(cls, reader, token_slots=256, min_count=1):
        vocab = cls(token_slots)
        words, tags = Counter(), Counter()
        for sentence in reader:
            for word, tag in sentence:
                words[word] += 1
                tags[tag] += 1
        kept = [w for w, c in words.most_common(token_slots - 2) if c >= min_count]
        vocab.tokens = {w: i for i, w in enumerate([cls.PAD, cls.UNK] + sorted(kept))}
        vocab.tags = {t: i for i, t in enumerate(sorted(tags))}
        return vocab

    def encode(self, sentence, length):
        ids = [self.tokens.get(w, 1) for w, _ in sentence][:length]
        tags = [self.tags[t] for _, t in sentence][:length]
        pad = length - len(ids)
        return ids + [0] * pad, tags + [-100] * pad
