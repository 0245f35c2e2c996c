import random


class Split:
    def __init__(self, rows, rank, world):
        order = list(range(len(rows)))
        random.shuffle(order)
        self.rows = [rows[i] for i in order[rank::world]]  # cause
