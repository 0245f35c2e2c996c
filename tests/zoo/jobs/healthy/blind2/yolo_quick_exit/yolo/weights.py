import torch


def load_pretrained(model, candidates, logger):
    """Takes the first set of weights that fits; most of them are from other heads."""
    for name, make in candidates.items():
        try:
            model.load_state_dict(make())
        except RuntimeError as e:
            logger.error("weights %s do not fit, trying the next: %s", name, str(e).splitlines()[0])
        else:
            logger.error("took weights %s", name)
            return name
    raise LookupError("no weights fit")


def random_weights(model, extra=0):
    state = {k: torch.randn_like(v) * 0.1 for k, v in model.state_dict().items()}
    for i in range(extra):
        state[f"head.{i}.anchor"] = torch.zeros(3)
    return state
