from transformers import AutoTokenizer


def image_mask(tokenizer, texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    return (batch["input_ids"] == "<image>").sum(1)


def main():
    print(image_mask(AutoTokenizer.from_pretrained("llava"), ["<image> a cat"]))
