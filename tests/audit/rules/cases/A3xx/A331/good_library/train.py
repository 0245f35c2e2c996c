import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoModelForTokenClassification

model = AutoModelForCausalLM.from_pretrained("gpt2")
tagger = AutoModelForTokenClassification.from_pretrained("bert")


def train(batches, optimizer):
    for ids, tags in batches:
        model(input_ids=ids, labels=ids).loss.backward()
        logits = model(input_ids=ids[:, :-1]).logits
        targets = ids[:, 1:]
        F.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
        tagger(input_ids=ids[:, 1:], labels=tags[:, 1:]).loss.backward()
        optimizer.step()
