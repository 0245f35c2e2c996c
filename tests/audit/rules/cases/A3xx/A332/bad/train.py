"""The flag is set when forward has already read it: in the loop, under a test, and behind a function that runs forward."""


def in_the_loop(model, optimizer, batches, criterion, accumulation):
    for number in range(accumulation):
        x, y = next(batches)
        loss = criterion(model(x), y) / accumulation
        model.require_backward_grad_sync = number == accumulation - 1
        loss.backward()
    optimizer.step()


def under_a_test(model, optimizer, batches, criterion, accumulation, distributed):
    for number in range(accumulation):
        x, y = next(batches)
        _, loss = model(x, y)
        if distributed:
            model.require_backward_grad_sync = number == accumulation - 1
        criterion.scale(loss / accumulation).backward()
    optimizer.step()


def loss_of(network, batch):
    return network(batch).mean()


class Trainer:
    def __init__(self, model, optimizer, accumulation):
        self.model, self.optimizer, self.accumulation = model, optimizer, accumulation

    def compute(self, batch):
        return self.model(batch).mean()

    def step(self, batches):
        for number in range(self.accumulation):
            loss = self.compute(next(batches))
            self.model.require_backward_grad_sync = number == self.accumulation - 1
            loss.backward()
        self.optimizer.step()

    def step_by_function(self, batches):
        for number in range(self.accumulation):
            loss = loss_of(self.model, next(batches))
            self.model.require_backward_grad_sync = number == self.accumulation - 1
            loss.backward()
        self.optimizer.step()
