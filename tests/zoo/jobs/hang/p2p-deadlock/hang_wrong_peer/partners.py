def partner(rank, dimension, world):
    """The rank at the other end of an edge of the hypercube."""
    if dimension == 0:
        return rank ^ 1
    return (rank + dimension) % world
