import contextlib

import torch


@contextlib.contextmanager
def inference(model):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        yield model
    model.train(was_training)


class Sampler:
    """Writes continuations of fixed prompts; stops a continuation at the end-of-text token."""

    def __init__(self, prompts, length=24, eot=0):
        self.prompts, self.length, self.eot = prompts, length, eot


    def stream(self, model, prompt, generator):
        with inference(model):
            ids = list(prompt)
            while len(ids) < self.length:
                logits, _ = model(torch.tensor([ids[-model.c.block:]]))
                ids.append(int(torch.multinomial(logits[0, -1].softmax(-1), 1, generator=generator)))
                yield ids[-1]

    def preview(self, model, seed):
        g = torch.Generator().manual_seed(seed)
        lines = []
        for prompt in self.prompts:
            text = []
            for token in self.stream(model, prompt, g):
                text.append(token)
                if token == self.eot or len(text) >= 8:
                    break
            lines.append(text)
        return lines
