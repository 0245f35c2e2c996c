import json
import sys

import deepspeed
from deepspeed.pipe import PipelineModule

from net import Net, batches

with open("ds_config.json") as file:
    config = json.load(file)
net = PipelineModule(Net().layers(), num_stages=2)
engine, _, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
for batch in batches(engine.train_micro_batch_size_per_gpu()):
    engine.backward(engine(batch))
    engine.step()
