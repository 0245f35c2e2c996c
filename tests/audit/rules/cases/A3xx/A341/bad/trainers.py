import torch
from torch.nn import functional
from transformers import Seq2SeqTrainer, Trainer


class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        losses = functional.cross_entropy(outputs.logits.flatten(0, 1), labels.flatten(), reduction="none")
        valid = labels.flatten() != -100
        loss = (losses * valid).sum()
        loss = loss / valid.sum()
        return (loss, outputs) if return_outputs else loss


class Plain(Seq2SeqTrainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs["labels"]
        outputs = model(**inputs)
        loss = functional.cross_entropy(outputs.logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        if return_outputs:
            return loss, outputs
        return loss


class Below(Plain):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["input_ids"]).logits
        taken = torch.gather(logits.log_softmax(-1), -1, inputs["labels"][..., None])
        return -taken.mean()
