from torch.nn import functional
from transformers import AutoModelForSeq2SeqLM, HfArgumentParser, LlamaForCausalLM, Trainer, TrainingArguments


class Smoothed(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = functional.cross_entropy(outputs.logits.flatten(0, 1), labels.flatten(), label_smoothing=0.1)
        return (loss, outputs) if return_outputs else loss


def main():
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    model = LlamaForCausalLM.from_pretrained("some/llama")
    print(AutoModelForSeq2SeqLM)
    Smoothed(model=model, args=args).train()


if __name__ == "__main__":
    main()
