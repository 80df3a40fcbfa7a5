# shellcheck shell=bash
# Sourced by demo and test: installs what is missing and builds a preset, quietly when it goes well.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Runs a command, showing its output only when it fails.
quietly() {
  local log
  log=$(mktemp)
  if ! "$@" > "$log" 2>&1 < /dev/null; then
    cat "$log" >&2
    rm -f "$log"
    echo "failed: $*" >&2
    return 1
  fi
  rm -f "$log"
}

# Passes over what ninja prints; every so many seconds a line says how far it is.
progress() {
  local seconds=$1 told=$SECONDS line at='' status
  while true; do
    status=0
    read -r -t 1 line || status=$?
    if ((status != 0 && status <= 128)); then return; fi
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      at="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} files"
    fi
    if [[ $at ]] && ((SECONDS - told >= seconds)); then
      echo "  $at"
      told=$SECONDS
    fi
  done
}

# Builds for a reader who sees lines come: a few while it goes well, all of them when it fails.
build_telling() {
  local log
  log=$(mktemp)
  if ! NINJA_STATUS='[%f/%t] ' "$@" 2>&1 < /dev/null | tee "$log" | progress 15; then
    cat "$log" >&2
    rm -f "$log"
    echo "failed: $*" >&2
    return 1
  fi
  rm -f "$log"
}

# PRESET [SETTING...]
build_preset() {
  local preset=$1 before=$SECONDS
  local settings=("${@:2}")
  # The distribution's interpreter is the one that its headers and pybind11 belong to, whatever
  # else stands first on PATH.
  if [[ -x /usr/bin/python3 ]]; then
    settings+=(-DPython3_EXECUTABLE=/usr/bin/python3 -DPython_EXECUTABLE=/usr/bin/python3
               -DPYTHON_EXECUTABLE=/usr/bin/python3)
  fi
  if command -v ccache > /dev/null; then
    settings+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  if [[ ${MEMREPLAY_UNITY_BUILD:-} ]]; then
    settings+=("-DMEMREPLAY_UNITY_BUILD=$MEMREPLAY_UNITY_BUILD")
  fi
  "$root/tools/install_dependencies"
  echo "Building build/$preset (the first time takes minutes)"
  cd "$root" || return
  quietly cmake --preset "$preset" --no-warn-unused-cli "${settings[@]}"
  if [[ -t 1 ]]; then
    cmake --build --preset "$preset"
  else
    build_telling cmake --build --preset "$preset"
  fi
  echo "Built in $((SECONDS - before)) s"
}
