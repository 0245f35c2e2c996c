import torch
from transformers import PreTrainedModel


class Characters:
    pad_token = 0

    def __init__(self, letters):
        self.eos_token = len(letters) + 1

    def __call__(self, texts):
        return torch.tensor([[ord(one) for one in text] for text in texts])


class Model(PreTrainedModel):
    def labels_of(self, texts):
        tokenizer = Characters("abc")
        labels = tokenizer(texts)
        labels[labels == tokenizer.pad_token] = -100
        return labels, labels == tokenizer.eos_token
