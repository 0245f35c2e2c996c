from transformers import AutoTokenizer


def masks(data, pad_token, eos_token):
    keep = data != pad_token
    keep[data == eos_token] = False
    return keep


def main(data):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    return masks(data["input_ids"], tokenizer.pad_token_id, tokenizer.eos_token_id)
