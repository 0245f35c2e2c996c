import logging
from dataclasses import dataclass

from torch.nn.parallel import DistributedDataParallel as DDP

log = logging.getLogger("depth")


@dataclass
class StagePlan:
    thaw_epoch: int = 5
    encoder_lr: float = 1e-5
    decoder_lr: float = 1e-4


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


def wrap(net, local):
    return DDP(net, device_ids=[local])


class StageCallback:
    def __init__(self, plan):
        self.plan = plan

    def on_fit_begin(self, trainer):
        set_trainable(trainer.net.encoder, False)  # cause
        trainer.model = wrap(trainer.net, trainer.local)

    def on_epoch_begin(self, trainer, epoch):
        if epoch != self.plan.thaw_epoch:
            return
        set_trainable(trainer.net.encoder, True)  # cause
        trainer.optimizer.add_param_group(
            {"params": list(trainer.net.encoder.parameters()), "lr": self.plan.encoder_lr}
        )
        log.info("encoder trains from epoch %d", epoch)
