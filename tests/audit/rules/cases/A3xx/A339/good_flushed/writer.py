class Writer:
    def __init__(self, file):
        self.file, self.rows, self.groups = file, [], []

    def add(self, row):
        self.rows.append(row)
        if len(self.rows) == 100:
            self.groups.append(self.rows)
            self.flush()

    def flush(self):
        for group in self.groups:
            self.file.write(group)
        self.groups.clear()
        self.rows.clear()


def write(table, rows):
    group = []
    for row in rows:
        group.append(row)
        if len(group) == 100:
            table.append(group)
            group.clear()


def each_batch(rows, model):
    batch, work = [], []
    for row in rows:
        batch.append(row)
        work.append(batch)
        model(work.pop())
        batch.clear()
