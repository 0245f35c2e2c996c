class Hook:
    def on_epoch_start(self, trainer, epoch):
        pass

    def on_epoch_end(self, trainer, epoch, loss):
        pass


class PrintLoss(Hook):
    def on_epoch_end(self, trainer, epoch, loss):
        if trainer.rank == 0:
            print(f"[{epoch}] {loss:.4f}")


class GradualThaw(Hook):
    def __init__(self, schedule):
        self.schedule = schedule

    def on_epoch_start(self, trainer, epoch):
        prefix = self.schedule.get(epoch)
        if prefix is None:
            return
        for name, p in trainer.model.module.named_parameters():
            if name.startswith(prefix):
                p.requires_grad_(True)  # cause
