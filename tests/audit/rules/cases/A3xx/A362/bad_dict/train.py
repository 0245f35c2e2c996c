import deepspeed

from net import Net, batches

CONFIG = {
    "train_batch_size": 32,
    "train_micro_batch_size_per_gpu": 8,
    "gradient_accumulation_steps": 2,
    "bf16": {"enabled": True},
}
net = Net()
engine, _, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=CONFIG)
for batch in batches():
    engine.backward(engine(batch))
    engine.step()
