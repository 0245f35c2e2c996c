from transformers import AutoTokenizer


def make_labels(input_ids, tokenizer):
    labels = input_ids.clone()
    labels[labels == tokenizer.pad_token_id] = -100
    return labels


def main():
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    if tokenizer.pad_token == tokenizer.eos_token:
        tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    if tokenizer.pad_token is None or tokenizer.pad_token not in tokenizer.get_vocab():
        tokenizer.pad_token = tokenizer.eos_token
    return make_labels(tokenizer(["a"], return_tensors="pt").input_ids, tokenizer)
