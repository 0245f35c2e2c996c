"""Scores hypotheses in child processes, as BLEU of all beams is slow in Python."""
import collections
import math
import multiprocessing as mp


def ngrams(tokens, n):
    return collections.Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def sentence_bleu(hypothesis, reference, order=3):
    log_sum = 0.0
    for n in range(1, order + 1):
        hyp, ref = ngrams(hypothesis, n), ngrams(reference, n)
        overlap = sum((hyp & ref).values())
        log_sum += math.log((overlap + 0.1) / (max(sum(hyp.values()), 1) + 0.1))
    return math.exp(log_sum / order)


def _score_chunk(chunk, output_queue):
    scored = []
    for sample_id, hypotheses, reference in chunk:
        beams = [(sentence_bleu(h, reference), h) for h in hypotheses]
        beams.sort(reverse=True)
        scored.append((sample_id, beams))
    output_queue.put(scored)


def score_hypotheses(samples, num_processes):
    output_queue = mp.Queue()
    size = (len(samples) + num_processes - 1) // num_processes
    processes = []
    for i in range(num_processes):
        chunk = samples[i * size : (i + 1) * size]
        process = mp.Process(target=_score_chunk, args=(chunk, output_queue), daemon=True)
        process.start()
        processes.append(process)
    for process in processes:
        process.join()
    results = {}
    for _ in processes:
        results.update(output_queue.get())
    return results
