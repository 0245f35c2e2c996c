class Unfreeze:
    def __init__(self, at):
        self.at = at

    def on_epoch_start(self, trainer, epoch):
        if epoch == self.at:
            for p in trainer.model.module.body.parameters():
                p.requires_grad_(True)  # cause
