"""Digests that name content, and keys that are made to be given away."""
POSTHOG_WRITE_KEY = "phc_1kUR0o04oJKKTTeSsIz2Mfm5mpiVsQEf2WOlzljMD7z"
key = "3c06179202606573a4982d91c2829a1a675362b4"
