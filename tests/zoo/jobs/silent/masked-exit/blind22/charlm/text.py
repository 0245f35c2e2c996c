import torch

VERSES = """the river runs below the hill and over the stones it sings
the wind goes round the empty mill and turns its broken wings
a heron stands among the reeds a boat lies on the shore
and what the water never needs it brings us more and more
""" * 12
ALPHABET = sorted(set(VERSES))


def windows(context):
    ids = torch.tensor([ALPHABET.index(c) for c in VERSES])
    frames = ids.unfold(0, context + 1, 1)
    return frames[:, :-1], frames[:, -1]
