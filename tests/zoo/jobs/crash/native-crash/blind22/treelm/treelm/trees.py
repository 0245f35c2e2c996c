"""Binary parse trees, right-branching where no parser output is given."""
import random


class Node:
    __slots__ = ("word", "left", "right", "span")

    def __init__(self, word=None, left=None, right=None):
        self.word = word
        self.left = left
        self.right = right
        self.span = 1 if word is not None else left.span + right.span


def chain(words):
    node = Node(word=words[-1])
    for word in reversed(words[:-1]):
        node = Node(left=Node(word=word), right=node)
    return node


def leaves(node):
    while node.word is None:
        yield node.left.word
        node = node.right
    yield node.word


def read_section(name, rank):
    """Sentences of a section of the corpus; transcripts have no sentence ends."""
    rng = random.Random(f"{name}-{rank}")
    lengths = [rng.randint(5, 40) for _ in range(60)]
    if name == "transcripts":
        lengths.append(90_000)
    return [chain([rng.randrange(200) for _ in range(n)]) for n in lengths]
