class Callback:
    def on_evaluate(self, state, metrics):
        pass


class History(Callback):
    def __init__(self):
        self.rows = []

    def on_evaluate(self, state, metrics):
        self.rows.append((state["epoch"], metrics["eval_loss"]))


class EarlyStop(Callback):
    """Stops when the evaluation loss has not become better for `total_interval` evaluations."""

    def __init__(self, total_interval, min_delta=0.0):
        self.best_metric = None
        self.interval = 0
        self.total_interval = total_interval
        self.min_delta = min_delta

    def on_evaluate(self, state, metrics):
        current = metrics["eval_loss"]
        if self.best_metric is None or current < self.best_metric - self.min_delta:
            self.best_metric = current
            state["best_epoch"] = state["epoch"]
            state["save"] = True
        else:
            self.interval += 1
        if self.interval >= self.total_interval:
            state["stop"] = True
