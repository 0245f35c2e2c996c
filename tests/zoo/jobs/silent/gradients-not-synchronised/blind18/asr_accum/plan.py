class AccumulationPlan:
    def __init__(self, text):
        pairs = (p.split(":") for p in text.split(","))
        self.table = sorted((int(e), int(k)) for e, k in pairs)

    def factor(self, epoch):
        k = 1
        for start, value in self.table:
            if epoch >= start:
                k = value
        return k
