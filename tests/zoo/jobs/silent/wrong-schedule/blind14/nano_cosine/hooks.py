class Hooks:
    def __init__(self, *items):
        self.items = items

    def call(self, name, **kw):
        for item in self.items:
            fn = getattr(item, name, None)
            if fn:
                fn(**kw)


class ScheduleHook:
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def after_batch(self, **kw):
        self.scheduler.step()


class PrintHook:
    def __init__(self, rank, every):
        self.rank, self.every = rank, every

    def after_update(self, update, loss, **kw):
        if self.rank == 0 and update % self.every == 0:
            print(f"update {update} loss {loss:.4f}", flush=True)
