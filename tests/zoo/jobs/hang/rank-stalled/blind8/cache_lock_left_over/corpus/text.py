import itertools

WORDS = "amber birch cedar dune elm fjord grove heath islet juniper".split()


def lines():
    picked = itertools.islice(itertools.permutations(WORDS, 5), 0, 3000, 10)
    return [" ".join(words) for words in picked]


def encode(line, vocab):
    return [vocab[word] for word in line.split()]
