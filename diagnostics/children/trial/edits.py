"""What a bisection changes in a model, and what it notes of it. The request is that of one rank, see the package.

    with edits.building(request):
        model = factory()
    model, calls = edits.apply(model, calls, request)    # before the model is moved and wrapped
    with edits.recording(model, request):                # `model` as apply gave it, whatever wraps it now
        output = wrapped(*args, **kwargs)
    answer["tree"] = edits.tree(model)                   # before the recording, and after it

`calls()` gives (args, kwargs) of the next call of the model.
"""

from contextlib import contextmanager


@contextmanager
def building(request):
    """Counts what is constructed and with what, and skips the constructors that the edits name."""
    yield


def apply(model, calls, request):
    """Returns the model and its calls as the edits want them; raises Refusal where an edit does not fit."""
    return model, calls


@contextmanager
def recording(model, request):
    """Notes what each module takes and gives, where the request asks for it; called on rank 0 only."""
    yield


def tree(model):
    """Returns what is known of each module, as JSON of ModuleNode, in the order of named_modules()."""
    return []
