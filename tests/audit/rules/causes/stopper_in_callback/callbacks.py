class PatienceCallback:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.bad = 0

    def on_epoch_end(self, state, loss):
        if loss < self.best:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        if self.bad >= self.patience:
            state.should_stop = True  # cause


class CallbackList:
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def on_epoch_end(self, state, loss):
        for one in self.callbacks:
            one.on_epoch_end(state, loss)
