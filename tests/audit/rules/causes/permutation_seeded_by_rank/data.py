import numpy as np


def chunk_of_rank(count, rank, world):
    """Returns this rank's part of all indices in random order."""
    order = np.random.permutation(count)  # cause
    return order[rank::world]
