import random

COLUMNS = ["age", "power", "mileage", "bonus", "density", "premium"]


def raw_rows(part, n_rows):
    rng = random.Random(300 + part)
    for i in range(n_rows):
        cells = [f"{rng.uniform(0, 10):.3f}" for _ in COLUMNS]
        if part == 11 and i == 412:
            cells[2] = cells[2].replace(".", ",")
        yield cells, 0.3 * float(cells[0]) - 0.2 * float(cells[1]) + rng.gauss(0, 0.2)


class Part:
    """One partition of the claims table, parsed in chunks."""

    def __init__(self, number, n_rows, chunk):
        self.number = number
        self.n_rows = n_rows
        self.chunk = chunk

    def _parse(self, cells):
        row = []
        for cell in cells:
            row.append(float(cell))
        return row

    def chunks(self):
        rows, targets = [], []
        for cells, target in raw_rows(self.number, self.n_rows):
            rows.append(self._parse(cells))
            targets.append(target)
            if len(rows) == self.chunk:
                yield rows, targets
                rows, targets = [], []
