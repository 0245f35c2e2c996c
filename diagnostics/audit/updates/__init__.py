"""Rules A121 to A129, A327 and A329: averages, rates, decays, counters and counts that change as a training goes on."""
