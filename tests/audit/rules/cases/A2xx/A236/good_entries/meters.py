class Meters:
    def __init__(self, names):
        self.names = names

    def collect(self, out, target, before=None):
        table = dict(before or {})
        for name in self.names:
            error = (out[name] - target[name]).abs()
            table = self.add(name, error.sum().item(), error.numel(), table)
        return table

    @staticmethod
    def add(name, value, count, table):
        old = table.get(name, {"value": 0.0, "count": 0})
        value, count = old["value"] + value, old["count"] + count
        table[name] = {"value": value, "count": count}
        return table
