import json
import sys

import deepspeed

from net import Net, batches

with open("ds_config.json") as file:
    config = json.load(file)
config["train_batch_size"] = int(sys.argv[1])
net = Net()
engine, _, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
for batch in batches(engine.train_micro_batch_size_per_gpu()):
    engine.backward(engine(batch))
    engine.step()
