class Control:

    def __init__(self):
        self.should_stop = False
        self.skip_update = False


class Callback:

    def on_backward(self, trainer, control):
        pass

    def on_evaluate(self, trainer, control, metric):
        pass


class CallbackHandler:

    def __init__(self, callbacks):
        self.callbacks = callbacks

    def call(self, event, trainer, *args):
        for callback in self.callbacks:
            getattr(callback, event)(trainer, trainer.control, *args)
