"""Where a model and its batches come from: one of three sources with the same methods.

load()                imports what the user's code needs (phase "import")
build()               returns the model (phase "construct")
calls(model, count)   returns the (args, kwargs) of so many calls of it (phase "batch"), or (args, kwargs, more) where
                      a step calls it several times: `more` has the (args, kwargs) of the later ones
"""

from ..inspection.refusal import Refusal


def source_of(request, answer):
    """Returns the source that the request names."""
    named = request["source"]
    if named.get("capture"):
        from .captured_source import Captured

        return Captured(named["capture"], named.get("inputs", ""), request["settings"].get("workers", 0))
    if named.get("adapter"):
        from .adapter_source import Adapter

        return Adapter(request, answer)
    if not named.get("factory"):
        raise Refusal("no model is named", "name a factory: module:factory")
    from .factory_source import Factory

    return Factory(named["factory"], named.get("inputs", ""), request["settings"].get("workers", 0))
