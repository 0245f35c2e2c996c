class EpochBus:
    """Tells everything that cares which epoch begins."""

    def __init__(self, *listeners):
        self.listeners = list(listeners)

    def add(self, listener):
        self.listeners.append(listener)

    def begin(self, epoch):
        for listener in self.listeners:
            if hasattr(listener, "set_epoch"):  # cause
                listener.set_epoch(epoch)  # cause
