import deepspeed
import torch


def main():
    net = torch.nn.Linear(8, 8)
    config = {"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}
    engine, optimizer, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
    for number, x in enumerate(torch.load("data.pt"), start=1):
        loss = engine(x).mean()
        engine.backward(loss)
        if number % 8 != 0:
            continue
        engine.step()


if __name__ == "__main__":
    main()
