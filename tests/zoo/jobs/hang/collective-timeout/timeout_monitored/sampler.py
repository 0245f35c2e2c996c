import time


def bleu_of_samples(prompts, seconds_per_prompt=0.5):
    """Samples a continuation of each prompt, one token at a time."""
    score = 0.0
    for prompt in range(prompts):
        end = time.monotonic() + seconds_per_prompt
        while time.monotonic() < end:
            score += 1e-6 * (prompt + 1)
    return score
