import os

from ring import WindowView, write_record

RECORDS = {"AX1": 1, "AX2": 1, "BR7": 3, "BR9": 1}


class Catalog:
    def __init__(self, root, length, hop, seed=0):
        os.makedirs(root, exist_ok=True)
        self.root, self.length, self.hop, self.seed = root, length, hop, seed

    def open(self, name):
        ch = RECORDS[name]
        path = os.path.join(self.root, name + ".f32")
        if not os.path.exists(path):
            write_record(path, ch, 1_500_000, self.seed + len(name) + ch)
        return WindowView(path, ch, self.length, self.hop)
