class Hook:
    def on_epoch_end(self, trainer):
        pass


class SaveBest(Hook):
    def __init__(self, folder):
        self.folder = folder

    def on_epoch_end(self, trainer):
        if not trainer.is_chief:  # cause
            return
        trainer.validate()
