import itertools
import logging

import torch
from torch.nn.parallel import DistributedDataParallel

from modeling_omni import OmniForCausalLM

logger = logging.getLogger(__name__)


def build_foundation_model(args):
    with torch.device(args.init_device):
        return OmniForCausalLM(args)


@torch.no_grad()
def materialize(model):
    model.to_empty(device="cpu")
    for tensor in itertools.chain(model.parameters(), model.buffers()):
        tensor.zero_()
    return model


def build_parallelize_model(model, weights_path=None):
    if any(p.is_meta for p in model.parameters()):
        model = materialize(model)
    if weights_path is not None:
        logger.info("loading weights from %s", weights_path)
        model.load_state_dict(torch.load(weights_path, map_location="cpu", weights_only=True))
    return DistributedDataParallel(model)
