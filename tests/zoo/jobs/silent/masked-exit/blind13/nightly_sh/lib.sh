say() { printf '[%(%H:%M:%S)T] %s\n' -1 "$*"; }

fit() {
    local script=$1 out=$2 procs=$3
    say "training on $procs processes"
    local summary=$(torchrun --standalone --nproc-per-node "$procs" "$script" --out "$out" | tail -n 1)
    say "summary: ${summary}"
}

publish() {
    local out=$1
    local files=$(ls "$out" | wc -l)
    say "published $files file(s)"
}
