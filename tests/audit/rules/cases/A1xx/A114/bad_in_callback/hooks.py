class Thaw:
    def __init__(self, at):
        self.at = at

    def on_epoch(self, trainer, epoch):
        if epoch == self.at:
            for name, parameter in trainer.model.module.named_parameters():
                if name.startswith("layer4"):
                    parameter.requires_grad_(True)
