from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")


def train(batches, optimizer):
    for ids in batches:
        targets = ids[:, 1:].clone()
        model(input_ids=ids[:, :-1], labels=targets).loss.backward()
        optimizer.step()
