class UnfreezeHook:
    def __init__(self, iteration, lr):
        self.iteration, self.lr = iteration, lr

    def before_step(self, trainer):
        if trainer.iter == self.iteration:
            params = trainer.model.module.unfreeze_backbone()
            trainer.optimizer.add_param_group({"params": params, "lr": self.lr})
            trainer.log(f"iter {trainer.iter}: backbone unfrozen ({sum(p.numel() for p in params)} parameters)")
