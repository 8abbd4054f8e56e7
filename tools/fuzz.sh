#!/usr/bin/env bash
# Gives the readers of svmlight and VW text, and what restores a saved state, inputs that libFuzzer
# makes, under AddressSanitizer and UBSan, then replays all it found through the same code built by
# g++; then changes model files of every kind (tests/forging). Each part takes so many seconds
# (60). What it finds is kept in build/fuzz, so that the next run goes on from there.
# `make fuzz` prepares .venv and calls this; ARGS=900 makes it an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
clang=
for name in "${CLANG-clang++}" clang++-19 clang++-16; do
  if [ -z "$clang" ] && command -v "$name" >/dev/null; then clang=$name; fi
done
if [ -z "$clang" ]; then
  echo "yarrow: fuzzing needs clang and its libclang-rt (Debian: apt install clang-16 libclang-rt-16-dev)." >&2
  exit 1
fi
flags=(-std=c++20 -g1 -O2 -ffp-contract=off -fno-sanitize-recover=all -pthread -Wno-psabi)
mkdir -p build/fuzz
for part in text_svmlight text_vw saved_state; do
  sources=("tests/fuzz/$part.cpp") kept=build/fuzz/$part seeds=tests/fuzz/corpus/${part#text_}
  if [ $part = saved_state ]; then sources+=(core/registry/*.cpp); fi
  mkdir -p "$kept"
  "$clang" "${flags[@]}" -fsanitize=fuzzer,address,undefined \
    -fsanitize-address-use-after-return=never -Icore "${sources[@]}" -o "$kept.fuzzer"
  nice "$kept.fuzzer" -max_total_time="$seconds" -max_len=160 -entropic=0 -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix="$kept." -print_final_stats=1 "$kept" "$seeds" 2>"$kept.log" ||
    { tail -40 "$kept.log" >&2; exit 1; }
  runs=$(sed -n 's/stat::number_of_executed_units: *//p' "$kept.log")
  echo "$(date -u +%FT%TZ) $runs" >>"$kept.runs"
  echo "$part: $runs inputs, $(awk '{n += $2} END {print n}' "$kept.runs") in all runs, no failure"
  if command -v g++ >/dev/null; then
    g++ "${flags[@]}" -fsanitize=address,undefined -DYARROW_REPLAY -Icore "${sources[@]}" -o "$kept.replay"
    echo "$part by g++: $("$kept.replay" "$kept" "$seeds") replayed, no failure"
  fi
done
PYTHONPATH=tests .venv/bin/python -m forging --seconds "$seconds"
