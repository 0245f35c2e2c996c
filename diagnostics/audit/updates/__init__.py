"""Rules A121 to A129 and A3xx, of a training's rates, counters, counts and bests that change in it."""
