from transformers import DataCollatorForLanguageModeling


def collator(tokenizer):
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return DataCollatorForLanguageModeling(tokenizer, mlm=False)


def sample(model, tokenizer, prompt):
    return model.generate(**tokenizer(prompt, return_tensors="pt"), eos_token_id=tokenizer.eos_token_id)
