from transformers import AutoModelForCausalLM, TrainingArguments

from trainers import ByHand, Divided, HandedOn, NoLabels, Old, Summed, Told


def main():
    args = TrainingArguments(output_dir="out", gradient_accumulation_steps=8)
    model = AutoModelForCausalLM.from_pretrained("some/model")
    for one in (ByHand, Divided, HandedOn, NoLabels, Old, Summed, Told):
        one(model=model, args=args).train()


if __name__ == "__main__":
    main()
