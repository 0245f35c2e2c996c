while [ $# -gt 0 ]; do
  case "$1" in
    --*) name=$(echo "${1#--}" | tr - _); eval "$name=\"$2\""; shift 2 ;;
    *) echo "unknown option $1" >&2; exit 1 ;;
  esac
done
