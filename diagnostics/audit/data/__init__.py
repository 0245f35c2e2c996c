"""Rules A176 to A189, A349 and A527: how data is split, ordered, numbered, labelled, augmented; lists of runs."""
