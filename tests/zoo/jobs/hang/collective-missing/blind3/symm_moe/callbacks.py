class Callback:
    def on_step_end(self, trainer, step, loss, landing):
        pass


class LossPrinter(Callback):
    def on_step_end(self, trainer, step, loss, landing):
        if trainer.rank == 0 and step % 5 == 0:
            print(f"step {step}: loss {loss:.4f}", flush=True)


class TokenPreview(Callback):
    """Shows which tokens the local expert received last, for the dashboard."""

    def __init__(self, every):
        self.every = every
        self.latest = None

    def on_step_end(self, trainer, step, loss, landing):
        if trainer.rank == 0 and step % self.every == 0:
            self.latest = (step, landing)

    def render(self):
        step, landing = self.latest
        return f"tokens of step {step}: {landing.data[0, :4].tolist()}"
