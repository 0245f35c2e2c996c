"""Lightning Fabric with its DDP strategy, in the process group that is there."""

import sys

from ..inspection.refusal import Refusal
from . import options_of

ALIKE = True
_fabric = []  # the one that set the model up


def wrap(model, device, settings):
    """Returns the model as Fabric sets it up."""
    fabric, strategies, environments = found()
    if not any(one.requires_grad for one in model.parameters()):
        raise Refusal("no parameter of %s requires a gradient: DDP takes no such model" % type(model).__name__)
    strategy = strategies.DDPStrategy(
        cluster_environment=environments.TorchElasticEnvironment(),
        process_group_backend=settings["backend"],
        **options_of(settings),
    )
    one = fabric.Fabric(accelerator=device.type, devices=settings["world"], strategy=strategy)
    one.launch()
    _fabric[:] = [one]
    return one.setup_module(model)


def found():
    """Returns Fabric's packages, under the name that is installed."""
    for name in ("lightning.fabric", "lightning_fabric"):
        try:
            __import__(name + ".strategies")
            __import__(name + ".plugins.environments")
        except ModuleNotFoundError as error:
            if error.name not in (name, name.split(".")[0]):
                raise
            continue
        return sys.modules[name], sys.modules[name + ".strategies"], sys.modules[name + ".plugins.environments"]
    raise Refusal("Lightning Fabric is not installed under %s" % sys.executable, "pip install lightning")


def accumulating(wrapped, last):
    """Leaves out the reduction of gradients in all backward passes but the last."""
    return _fabric[0].no_backward_sync(wrapped, enabled=not last)


def backward(wrapped, loss):
    """Goes backward as Fabric does."""
    _fabric[0].backward(loss)
