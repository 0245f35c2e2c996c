from mixins import MetricsMixin, RankMixin


class Engine(RankMixin, MetricsMixin):
    def __init__(self):
        self.correct = 0
        self.seen = 0

    def observe(self, right, count):
        self.correct += right
        self.seen += count

    def summary(self):
        return f"accuracy {self.reduce_metrics():.3f}"

    def finish(self):
        if self.main_process():  # cause
            print(self.summary())  # cause
