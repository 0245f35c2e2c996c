class Callback:
    def on_epoch_begin(self, trainer, epoch):
        pass

    def on_epoch_end(self, trainer, epoch):
        pass


class TagCurriculum(Callback):
    """Begins with the most salient tag and tells one more every few epochs."""

    def __init__(self, first, every):
        self.first, self.every = first, every

    def on_epoch_begin(self, trainer, epoch):
        limit = self.first + epoch // self.every
        trainer.train_set.set_tag_limit(limit)
        trainer.log(f"epoch {epoch}: up to {trainer.train_set.tag_limit} tags")


class ShuffleEpoch(Callback):
    def on_epoch_begin(self, trainer, epoch):
        trainer.loader.sampler.set_epoch(epoch)
