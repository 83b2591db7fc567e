# Studies that pages begin with, as functions for their `<!-- console: run ... -->`; docs/console.py reads them.

# The example study as the pages of the stages build it, in $FCPAIR_STUDY or study.db, up to and with a stage. What has
# been built once is copied from $STUDIES.
example_study() {
  local study="${FCPAIR_STUDY:-study.db}" stage
  for stage in init import select retrieve pair assign label adjudicate assign-validation validate; do
    if [ -e "$STUDIES/$stage.db" ]; then
      cp "$STUDIES/$stage.db" "$study"
    else
      example_stage "$stage"
      cp "$study" "$STUDIES/$stage.$$"
      mv "$STUDIES/$stage.$$" "$STUDIES/$stage.db"
    fi
    if [ "$stage" = "$1" ]; then return 0; fi
  done
  echo "there is no stage $1"
  return 1
}

example_stage() {
  case "$1" in
    init) fcpair init --title "Mild prejudices" --guidelines examples/guidelines.md --hs-name statement --cn-name reply ;;
    import) fcpair import examples/corpus.csv --only-language en ;;
    select) fcpair select --hs 12 --stratify hs_topic --seed 13 ;;
    retrieve) fcpair retrieve --k 3 ;;
    pair) fcpair pair --candidates 30 --seed 13 ;;
    assign) fcpair assign --annotators 6 --overlap 2:0.2 --overlap 3:0.1 --order hs --seed 13 ;;
    adjudicate) fcpair adjudicate --policy majority --ties discard ;;
    assign-validation) fcpair validate assign --validators 3 --seed 13 ;;
    label | validate) fcpair simulate --accuracy 0.92 --positive 0.3 --not-sure 0.05 --skips 0.02 --seed 13 ;;
  esac
}

# Fill in the first N empty lines of sheets: answer_sheets FOLDER N [PERSON ...]; everybody's if nobody is named.
answer_sheets() {
  python - "$@" <<'END'
import csv
import sys
from pathlib import Path

folder, n, *people = sys.argv[1:]
for sheet in sorted(Path(folder).glob("*.csv")):
    if people and sheet.stem not in people:
        continue
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines[: int(n)]:
        line["label"] = "appropriate" if int(line["pair"]) % 4 == 0 else "not_appropriate"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
END
}

# Copy a study that is being served, without its log: copy_without_log STUDY COPY; the log of STUDY stays beside it.
copy_without_log() {
  python - "$@" <<'END'
import os
import shutil
import sys

from fcpair import Study
from fcpair.records import Role

place, copy = sys.argv[1:]
study = Study(place)
study.share()
study.add_people(["nina"], Role.VALIDATOR)
shutil.copy(place, copy)
os._exit(0)  # as if it had been killed, so that the log stays
END
}
