def first_full(rows, size):
    found, group = [], []
    for row in rows:
        group.append(row)
        if row.ends:
            group.clear()
        if len(group) == size:
            found.append(group)
            break
    return found


class Log:
    def __init__(self):
        self.lines, self.kept = [], []

    def add(self, line):
        self.lines.append(line)

    def keep(self):
        self.kept.append(self.lines)

    def close(self):
        self.lines.clear()
