import deepspeed
import torch


def every_one(config):
    net = torch.nn.Linear(8, 8)
    engine, *_ = deepspeed.initialize(model=net, config={**config, "gradient_accumulation_steps": 8})
    for number, x in enumerate(torch.load("data.pt"), start=1):
        engine.backward(engine(x).mean())
        engine.step()
        if engine.is_gradient_accumulation_boundary():
            print(number)


def not_the_engines(config):
    net = torch.nn.Linear(8, 8)
    engine, *_ = deepspeed.initialize(model=net, config={**config, "gradient_accumulation_steps": 1})
    for number, x in enumerate(torch.load("data.pt"), start=1):
        engine.backward(engine(x).mean())
        if number % 8 == 0:
            engine.step()


def whole_rounds(config):
    net = torch.nn.Linear(8, 8)
    engine, *_ = deepspeed.initialize(model=net, config={**config, "gradient_accumulation_steps": 4})
    for number, x in enumerate(torch.load("data.pt"), start=1):
        if number % 2:
            engine.backward(engine(x).mean())
            engine.step()


def both_ways(config):
    net = torch.nn.Linear(8, 8)
    engine, *_ = deepspeed.initialize(model=net, config={**config, "gradient_accumulation_steps": 4})
    for x in torch.load("data.pt"):
        engine.backward(engine(x).mean())
        if engine.is_gradient_accumulation_boundary():
            print("an update")
            engine.step()
        else:
            engine.step()


if __name__ == "__main__":
    every_one({"train_micro_batch_size_per_gpu": 4})
    not_the_engines({"train_micro_batch_size_per_gpu": 4})
    both_ways({"train_micro_batch_size_per_gpu": 4})
    whole_rounds({"train_micro_batch_size_per_gpu": 4})
