"""Rules A121 to A129, A327, A329 and A340 to A357: rates, counters, counts and bests that change in a training."""
