from dataclasses import dataclass


@dataclass
class Context:
    rank: int
    step: int = 0


class Callback:
    every = 1

    def maybe(self, ctx, trainer):
        if ctx.step % self.every == 0:
            self.run(ctx, trainer)

    def run(self, ctx, trainer):
        raise NotImplementedError


class Report(Callback):
    every = 100

    def run(self, ctx, trainer):
        if ctx.rank:  # cause
            return
        print(ctx.step, trainer.meter.average())  # cause
