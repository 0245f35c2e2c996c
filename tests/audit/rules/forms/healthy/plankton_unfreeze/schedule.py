from dataclasses import dataclass


@dataclass
class Thaw:
    """Opens the backbone once the new head has settled."""
    epoch: int = 5
    lr: float = 1e-5

    def before_epoch(self, epoch, learner):
        if epoch != self.epoch:
            return
        params = list(learner.backbone.parameters())
        for p in params:
            p.requires_grad_(True)
        learner.wrap(learner.net.module)
        learner.opt.add_param_group({"params": params, "lr": self.lr})
