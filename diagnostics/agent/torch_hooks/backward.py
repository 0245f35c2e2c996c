"""Deep mode: notes when the backward pass reaches a module, through a prehook on the node that made its output."""

from __future__ import annotations

from ..shared import layout

MAX_OUTPUTS = 8


def mark_backward(result, name, stack, agent):
    """Registers a prehook on the autograd nodes of `result`; it changes no gradient. Never raises."""
    try:
        for tensor in _tensors(result):
            node = getattr(tensor, "grad_fn", None)
            # A parent that returns its child's output as it is would take the child's place.
            if node is None or node is stack.node or not hasattr(node, "register_prehook"):
                continue
            stack.node = node
            node.register_prehook(_entering(name, stack, agent.ordered))
    except Exception:
        pass  # no name in backward; the job goes on


def _entering(name, stack, tick):
    event = layout.KIND_BACKWARD << layout.NAME_BITS | name

    def entering(grad_outputs):
        sequence = tick()
        stack.ring[sequence & (layout.RING_SLOTS - 1)] = sequence << layout.SEQUENCE_SHIFT | event

    return entering


def _tensors(result):
    if hasattr(result, "grad_fn"):
        return (result,)
    if isinstance(result, dict):
        return tuple(result.values())[:MAX_OUTPUTS]
    return tuple(result)[:MAX_OUTPUTS] if isinstance(result, (tuple, list)) else ()
