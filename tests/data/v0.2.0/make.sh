#!/bin/sh
# What version 0.2.0 writes, made by its program:
#   make.sh PROGRAM
# makes the folder /tmp/v0.2.0 (a path that is nobody's: files that are sealed name where their data were) out of this
# folder's molecules.jsonl, tiny.toml and the graphs of ../v0.1.0. Of every model a run of two epochs (NAME) and the same
# taken on to four (NAME-end) with its predictions, all with the plain engine, whose bits are the same everywhere; a
# folder of reproduce; a run of distinguish stopped half way (pairs) and taken to its end (pairs-end). Logs, which name
# the machine, are left out.
set -e
program=$1
here=$(cd "$(dirname "$0")" && pwd)
to=/tmp/v0.2.0
rm -rf "$to"
mkdir "$to"
cp -r "$here/make.sh" "$here/molecules.jsonl" "$here/tiny.toml" "$here/../v0.1.0/exp" "$to"
cd "$to"
run() {  # NAME DATA OPTION...
  name=$1
  data=$2
  shift 2
  echo "$name"
  "$program" train --out "$name" --data "$data" --engine reference --threads 1 --quiet --seed 7 --folds 2 --fold 1 \
    --epochs 2 --batch 3 --width 6 --layers 2 --lr 0.01 "$@"
  cp -r "$name" "$name-end"
  "$program" train --resume --out "$name-end" --epochs 4 --threads 1 --quiet
  "$program" predict "$name-end" --engine reference --draws 3 $logits --json > "$name-end/predictions.json"
}
logits=--logits
run gcn exp --rni 0.5 --eval-draws 2 --clip-norm 1
run gcn-colours exp --random colours --class-weights 1,2.5 --fold-scheme stratified --activation relu
logits= # a model of real targets has none
run gcn-edges molecules.jsonl --target attributes --loss huber --validation 0.34 --select-by loss --schedule plateau \
  --plateau-patience 0 --eval-draws 2 --random uniform-marks --aggregation sum
logits=--logits
run gin exp --model gin --rni 0.34 --rni-dist xavier-uniform --readout sum --weight-decay 0.01 --dropout 0
run gin-edges molecules.jsonl --target labels --model gin --activation tanh --readout mean --validation 0.34 \
  --select-by accuracy --test end
run gcn2 exp --model gcn2 --warm-up 3
run gcn3 exp --model gcn3 --no-compress --aggregation sum --readout sum
run gcn123 exp --model gcn123 --rni 0.5 --two-sets all --readout mean
run ppgn exp --model ppgn --rni 0.34 --mlp-depth 1 --readout mean
"$program" reproduce tiny.toml --out reproduce --engine reference --threads 1 --quiet
"$program" distinguish exp --model gin --random colours --width 4 --layers 1 --draws 32 --train-draws 4 --epochs 40 \
  --engine reference --threads 1 --quiet --json --out pairs-end > answer.json || true
cp -r pairs-end pairs
head -n 2 pairs-end/results.jsonl > pairs/results.jsonl # what a kill between two records leaves
mv answer.json pairs-end
find . -name log.jsonl -exec rm {} +
