"""Rules A176 to A189 and A525: how data is split, ordered, numbered, scaled and labelled, and the lists of runs."""
