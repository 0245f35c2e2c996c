class Hook:
    def before_epoch(self, runner): ...
    def before_iter(self, runner): ...
    def after_iter(self, runner): ...


class CosineLr(Hook):
    def __init__(self, base, total):
        self.base, self.total = base, total

    def before_iter(self, runner):
        done = min(1.0, runner.iteration / self.total)
        for group in runner.opt.param_groups:
            group["lr"] = self.base * (1 - 0.9 * done)


class OptimizerHook(Hook):
    """Cumulative gradients: one optimizer step every `every` iterations, from `begin` on."""

    def __init__(self, every=1, begin=0):
        self.every, self.begin = every, begin

    def factor(self, runner):
        return self.every if runner.iteration >= self.begin else 1

    def before_iter(self, runner):
        runner.opt.zero_grad()

    def after_iter(self, runner):
        k = self.factor(runner)
        (runner.loss / k).backward()
        if (runner.iteration + 1) % k == 0:
            runner.opt.step()


class Progress(Hook):
    def __init__(self, every):
        self.every = every

    def after_iter(self, runner):
        if runner.rank == 0 and (runner.iteration + 1) % self.every == 0:
            print(f"iteration {runner.iteration + 1} loss {runner.loss.item():.3f}", flush=True)
