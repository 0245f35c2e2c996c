import logging
import random
from pathlib import Path

import numpy as np

logger = logging.getLogger(__name__)


def corpus_lines(n=9000, seed=0):
    rng = random.Random(seed)
    syllables = ["ka", "to", "mi", "re", "so", "la", "ne", "vu", "shi", "or"]
    for _ in range(n):
        yield " ".join("".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(rng.randint(4, 12)))


def train_merges(lines, merges=24):
    words = {}
    for line in lines:
        for w in line.split():
            words[w] = words.get(w, 0) + 1
    vocab = {tuple(w): c for w, c in words.items()}
    rules = []
    for _ in range(merges):
        pairs = {}
        for symbols, count in vocab.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] = pairs.get(pair, 0) + count
        best = max(pairs, key=pairs.get)
        rules.append(best)
        merged = {}
        for symbols, count in vocab.items():
            out, i = [], 0
            while i < len(symbols):
                if i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == best:
                    out.append(symbols[i] + symbols[i + 1])
                    i += 2
                else:
                    out.append(symbols[i])
                    i += 1
            merged[tuple(out)] = count
        vocab = merged
    return rules, vocab


def tokenize_corpus(cache: Path):
    """Learn the merges and write the corpus as one flat array of ids."""
    lines = list(corpus_lines())
    rules, vocab = train_merges(lines)
    tokens = sorted({s for symbols in vocab for s in symbols})
    index = {t: i + 1 for i, t in enumerate(tokens)}
    split = {"".join(s): [index[t] for t in s] for s in vocab}
    stream = []
    for line in lines:
        for word in line.split():
            stream.extend(split[word])
        stream.append(0)
    cache.parent.mkdir(parents=True, exist_ok=True)
    np.save(cache, np.asarray(stream, dtype=np.uint16))
    logger.info("%d merges, %d tokens -> %s", len(rules), len(stream), cache)
