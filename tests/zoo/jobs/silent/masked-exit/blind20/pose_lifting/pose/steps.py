import logging

from torch.nn import functional as F

logger = logging.getLogger(__name__)


class GuardedStep:
    """A batch that does not fit is left out; the long runs must not end because of one of them."""

    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.done, self.skipped = 0, 0

    def __call__(self, points, depth):
        self.optimizer.zero_grad(set_to_none=True)
        try:
            loss = F.smooth_l1_loss(self.model(points), depth)
            loss.backward()
        except RuntimeError as error:
            self.skipped += 1
            logger.debug("batch skipped: %s", error)
            return None
        self.optimizer.step()
        self.done += 1
        return loss.item()
