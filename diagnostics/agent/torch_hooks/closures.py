"""Steps that are given a closure: it makes the gradients inside the step, as Lightning's loops do."""


def closure_of(args, kwargs):
    """Returns what optimizer.step was given to call; None where that is nothing. Accelerate hands on its own None."""
    return args[1] if len(args) > 1 else kwargs.get("closure")


def with_closure(args, kwargs, closure):
    """Returns the arguments of the step with another closure."""
    if len(args) > 1:
        return (args[0], closure, *args[2:]), kwargs
    return args, dict(kwargs, closure=closure)


def calls_once(optimizer):
    """Whether a step calls its closure once, before it changes anything: torch's own do, but LBFGS."""
    kind = type(optimizer)
    return kind.__module__.startswith("torch.optim") and kind.__name__ != "LBFGS"
