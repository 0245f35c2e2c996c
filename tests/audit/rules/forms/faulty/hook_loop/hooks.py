import torch


class Hook:
    def after_backward(self, loop):
        pass

    def after_step(self, loop):
        pass


class ClipHook(Hook):
    def __init__(self, max_norm):
        self.max_norm = max_norm

    def after_backward(self, loop):
        norm = torch.nn.utils.clip_grad_norm_(loop.model.parameters(), self.max_norm)  # cause
        loop.record("grad_norm", norm)


class LrHook(Hook):
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def after_step(self, loop):
        self.scheduler.step()
        loop.record("lr", self.scheduler.get_last_lr()[0])
