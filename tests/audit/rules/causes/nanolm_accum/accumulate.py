from contextlib import nullcontext


class Accumulator:
    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every = model, optimizer, every
        self.count = 0

    @property
    def final(self):
        return (self.count + 1) % self.every == 0

    def context(self):
        if self.final and hasattr(self.model, "no_sync"):  # cause
            return self.model.no_sync()  # cause
        return nullcontext()

    def advance(self):
        done = self.final
        self.count += 1
        if done:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        return done
