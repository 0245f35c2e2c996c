"""The flag is set before forward; behind backward for the next round; in another arm; and where nothing hangs on it."""


def before_forward(model, optimizer, batches, criterion, accumulation):
    for number in range(accumulation):
        x, y = next(batches)
        model.require_backward_grad_sync = number == accumulation - 1
        loss = criterion(model(x), y) / accumulation
        loss.backward()
    optimizer.step()


def for_the_next_round(model, optimizer, batches, criterion, accumulation):
    model.require_backward_grad_sync = accumulation == 1
    for number in range(accumulation):
        x, y = next(batches)
        criterion(model(x), y).backward()
        model.require_backward_grad_sync = number == accumulation - 2
    optimizer.step()


def two_passes(generator, critic, optimizer, x):
    loss = critic(generator(x)).mean()
    critic.require_backward_grad_sync = False
    fake = critic(generator(x)).mean()
    fake.backward()
    critic.require_backward_grad_sync = True
    optimizer.step()
    return loss


def in_another_arm(model, batches, optimizer, first):
    for number, x in enumerate(batches):
        if first:
            loss = model(x).mean()
        else:
            model.require_backward_grad_sync = number % 4 == 3
            loss = model(x).mean() * 2
        loss.backward()
        optimizer.step()


def as_it_is(model, batches, optimizer):
    for x in batches:
        loss = model(x).mean()
        model.require_backward_grad_sync = True
        loss.backward()
        optimizer.step()


def said_again(model, batches, optimizer, last):
    for x in batches:
        model.require_backward_grad_sync = last
        loss = model(x).mean()
        model.require_backward_grad_sync = last
        loss.backward()
        optimizer.step()


class OwnWrapper:
    """Reduces in its own backward hook, where it reads the flag."""

    def __init__(self, module):
        self.module, self.require_backward_grad_sync = module, True

    def __call__(self, x):
        return self.module(x)


def own_wrapper(module, batches, optimizer):
    wrapped = OwnWrapper(module)
    for number, x in enumerate(batches):
        loss = wrapped(x).mean()
        wrapped.require_backward_grad_sync = number % 4 == 3
        loss.backward()
        optimizer.step()
