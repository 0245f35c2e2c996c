"""What `ups-doctor` may ask of one of our configurations: `python -m ups.doctor_job VERB CONFIG`, one verb a file.

    describe                      one JSON object on stdout; imports no torch
    data --result FILE            as one of N ranks: opens and reads the data, lists the sampler's indices
    model --result FILE           as one of N ranks: builds, wraps and steps the configuration's modules
    ladder                        the sizes that its models can be built in, as JSON on stdout; imports no torch
    dry-run --result FILE --steps N   trains a few real steps into a temporary folder

`--set KEY=VALUE`, `--nproc N` and `--backend B` override the configuration.
Exit code 2 with one sentence on stderr, and perhaps an indented hint below it: this configuration is
wrong. FILE may contain `{rank}`.
"""
