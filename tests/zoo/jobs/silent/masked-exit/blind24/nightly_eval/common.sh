log() { echo "[$(date +%H:%M:%S)] $*"; }

train_model() {
  local name=$1 width=$2
  local score="$(python train.py --name "$name" --width "$width" | tail -n 1)"
  log "$name: $score"
  echo "$name $score" >> "$RESULTS"
}
