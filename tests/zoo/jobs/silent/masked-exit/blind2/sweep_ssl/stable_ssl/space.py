import itertools

SPACE = {"temperature": [0.0, 0.5], "lr": [0.05]}


def trials():
    keys = list(SPACE)
    for i, values in enumerate(itertools.product(*SPACE.values())):
        yield f"trial{i:02d}", dict(zip(keys, values))
