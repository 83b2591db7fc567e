"""What each option of each command changes, and where it has no effect: rows for `test_effects.py`.

Below the name of a command, or several between commas, `+` is before options that change what comes of it, `-` before
those that are refused, and `~` before those that are tested where there is what they need: a server, a model that is
asked, a decision by a person, a limit to be loosened, a person who was refused, items without a target, evaluations.
Options between bars are given one at a time, in the context before the `>`: what is given in addition to the command's
call in CALLS. A context that begins with `=` is in place of that call, and one with `dealt/` is on the study at that
stage, or on one of BUILT; double bars are between contexts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from steps.small import CNS, HS, write_csv

from fcpair.param_values import flag_of
from fcpair.params import Plan

TABLE = """
init
+ =--study {folder}/new.db > --title T | --guidelines {guide} | --hs-name q | --cn-name d | --folding arabic
run
~ --loosen
import
+ --reader jsonl || ={languages} > --only-language en | --language-column lang | --hs-column hs_c | --cn-column cn_c
+ ={languages} > --hs-id-column hs_i | --cn-id-column cn_i || ={unpaired} > --unpaired || imported/ > --redo
+ ={plain} > --encoding utf-16 | --separator semicolon | --no-header || ={hs} > --cn-path {cns}
+ ={hs} --cn-path {documents} > --cn-encoding utf-16 | --cn-separator semicolon | --cn-no-header | --cn-sheet-name x
- ={plain} > --only-language de || ={languages} --reader conan > --language-column x | --hs-column x | --cn-column x
- ={languages} --reader conan > --hs-id-column x | --cn-id-column x
- ={languages} --reader mt-conan > --language-column x | --hs-column x | --cn-column x | --hs-id-column x
- ={languages} --reader mt-conan > --cn-id-column x | --no-header | --cn-path {cns}
- ={languages} --reader conan > --no-header | --cn-path {cns} || ={hs} --cn-path {cns} > --unpaired
- ={plain} > --cn-encoding utf-8 | --cn-separator comma | --cn-no-header | --cn-sheet-name x
select
+ = > --hs 3 | --hs-list {hs} || --seed 5 || --seed 1 > --stratify hs_topic || selected/ > --redo
+ =--hs-list {hs} > --ids own
- =--hs-list {hs} > --seed 5 | --stratify hs_topic | --hs 3 || =--hs 3 > --ids own
retrieve
+ =--run {run} > --depth 1 | --ids own || retrieved/ =--every-cn > --redo
- =--every-cn > --ids own
- =--every-cn > --k 3 | --model x | --backend onnx | --count-duplicates | --memory-mb 64 | --dask local:1 | --depth 3
- =--every-cn > --cn-list {cns} || =--cn-list {cns} > --k 3 | --model x | --backend onnx | --count-duplicates
- =--cn-list {cns} > --memory-mb 64 | --dask local:1 | --every-cn | --run {run}
- =--run {run} > --k 3 | --model x | --backend onnx | --count-duplicates | --memory-mb 64 | --dask local:1
pair
~ --similar
+ --merge
+ --candidates 3 | --sample 5 || --candidates 3 > --seed 5 || known/ =--redo > --keep-known || paired/ > --redo
- --seed 5
extend
+ = > --hs 1 || --seed 5 | --dry-run || =--hs-list {new_hs} > --new-texts || =--cn {cns} > --seed 5
+ =--run {run} > --depth 1 | --ids own || = > --cn {new_cns} | --hs-list {new_hs} | --run {run}
- --sample 5 | --depth 3 | --ids own | --new-texts | --hs-list {hs}
plan
+ --width 1.5 | --hs 3 | --cn 3 | --seconds 10 | --three 0.1 | --validated 0.5 | --valid 0.5 | --level 0.9
+ --prevalence 0.4 | --not-sure 0.2 | --kappa 0.7 | --hs-effect 0.2 | --cn-effect 0.2 | --annotator-effect 0.5
+ --pilot {pilot} | --figures {folder}/f || --width 1.5 > --coefficient fleiss | --save
+ = > --annotators 2 | --power 0.8 --sd 0.2 || =--power 0.8 > --sd 0.2 | --system nothing
+ =--power 0.8 --sd 0.2 > --difference 0.1 | --comparisons 3
+ =--study {folder}/none.db --hs 4 --cn 6 --annotators 3 > --scheme one_of(no,yes+)
+ --figures {folder}/f > --caption | --figure-width column
- =--power 0.8 --sd 0.2 > --save | --scheme x | --figures {folder}/f || --comparisons 1 | --difference 0.05 | --sd 0.2
- --system tfidf | --coefficient alpha | --scheme one_of(no,yes+) | --save | --caption | --figure-width page
- =--study {folder}/none.db --hs 4 --cn 6 --annotators 3 > --grid main || --pilot {pilot} > --prevalence 0.4
- --pilot {pilot} > --not-sure 0.2 | --kappa 0.7 | --hs-effect 0.2 | --cn-effect 0.2 | --annotator-effect 0.5
- labelled/ = > --prevalence 0.4 | --not-sure 0.2 | --kappa 0.7 | --hs-effect 0.2 | --cn-effect 0.2
- labelled/ = > --annotator-effect 0.5
calibrate start
+ = > --annotators 2 || --pairs 5 | --counts first | --seed 5 | --round nowhere
calibrate discuss
+ = > --early
calibrate close
+ = > --early
assign
+ = > --annotators 2 || --overlap 2:0.5 | --order hs | --seed 5 | --open | --round nowhere
+ =--annotators 4 --overlap 2:0.5 > --annotator-group a1,a2 || --open > --lease-minutes 5
+ dealt/ = > --redo | --more | --close || dealt/ =--more > --pairs-file {pairs}
+ --cells {pairs} || --cells {some} --overlap 2:0.5 > --batch 1
- --batch 2 || --cells {pairs} > --order hs | --annotator-group a1,a2
- --lease-minutes 5 | --annotator-group a1,a2 || --overlap 2:0.2 > --overlap 2:0.4 || --open > --order hs
- --open --overlap 2:0.5 > --annotator-group a1,a2 || dealt/ = > --pairs-file {pairs}
- dealt/ =--more > --redo | --close || =--order hs > --round label
- dealt/ =--more --overlap 2:0.5 > --pairs-file {pairs}
further
+ = > --if-tied 1 | --if-not-sure 1 || --most 2
- = > --most 4
people add
+ --role validator | --url http://x
people controls
+ --rate 0.5 | --seed 5
people dismiss
+ --seed 5 | --reason Bye || =ana > --yes
people handover
+ --to ben | --last 2 | --seed 5
people invite
+ = > --all || --out {folder}/l.csv | --url http://x
- --all
people pilot
+ --round nowhere
people qualify
+ --pass-mark 0.5 | --known-pairs 1 | --seed 5
people retire
+ --seed 5
people rotate-secret
+ = > --yes
labels export
+ --layout cells | --ids own || --layout cells > --round nowhere || below_the_mark/ > --known
+ = > --out {folder}/l.csv
- --round label
labels import
+ --reader cells || --reader cells > --round nowhere || labelled/ ={again} > --supersede
- --people {t} | --round label || --reader fc-conan > --supersede | --round label
~ --people
labels rename
+ =appropriate suitable > --reason … || --dry-run
labels merge
+ =suitable great --into … > --reason … || =suitable great --reason … > --into great || --dry-run
labels split
+ =appropriate --into kind+ --into … > --reason … || =appropriate --into kind+ --reason … > --into other
+ --dry-run
labels add
+ =… > --reason … || --dry-run
labels sheets
+ --layout cells | --sheet-format xlsx | --ids own || --layout cells > --round nowhere
- --round label
answers export
+ --layout pairs | --round nowhere | --ids own || below_the_mark/ > --known || = > --out {folder}/l.csv
- --layout pairs > --round label
answers import
+ --reader pairs | --round nowhere || labelled/ ={again2} > --supersede
- --people {t} || --reader fc-conan > --supersede || --reader pairs > --round label
~ --people
answers refusals
+ --round nowhere
answers replies
+ =--out {folder}/x.csv > --round propose || =--round propose > --out {folder}/x.csv
answers sheets
+ --layout pairs | --round nowhere | --sheet-format xlsx | --ids own
- --layout pairs > --round label
simulate
+ --accuracy 0.2 | --positive 0.9 | --leaning 0.9 | --not-sure 0.5 | --skips 0.5 | --hs-effect 0.5 | --cn-effect 0.5
+ --seed 5 || --leaning 0.9 > --leaning-to not_sure || --hs-effect 0.1 > --annotator-effect 2
- --leaning-to not_sure
examples find
+ = > --round propose || =--grid replies --round propose > --redo
examples list
+ =--grid replies > --round propose
examples review
+ =--grid replies {folder}/reviewed.csv > --round propose
examples sheet
+ =--grid replies {folder}/s.csv > --round propose
generate
+ = > --round propose || --dry-run || --dry-run > --price-in 1 --price-out 2
- --price-in 1 | --price-out 1 || --dry-run > --price-in 1
curation
+ --round nowhere
agreement
+ --round nowhere | --weights linear | --indefinite drop | --intervals annotators | --level 0.9 | --blocks row
+ --bin 1-2 || --blocks row > --metadata hs_topic
- --metadata hs_topic
+ extended/ = > --further
blocks
ranking
+ --prior 1 | --tie left-out | --level 0.9 | --round nowhere
- --caption | --figure-width page
aggregate
+ --label-model majority | --round nowhere | --out {folder}/p.csv
- --seed 5
~ --seed
groups
+ ={asked} --annotator who --labels said --by gender > --item item || --round nowhere | --mixed | --by Age
+ ={asked} --item item --labels said --by gender > --annotator who
+ ={asked} --item item --annotator who --by gender > --labels said
- --item item | --annotator who | --caption | --figure-width page
- ={asked} --item item --annotator who --labels said --by gender > --round label | --grid survey | --study {study}
~ --seed
adjudicate
+ labelled/ = > --policy majority || labelled/ =--policy majority > --ties discard
+ --import {decisions} | --sheet {folder}/s.csv | --request {pairs} | --dry-run
+ --sheet {folder}/s.csv > --order doubt | --adjudicator eva | --ids own
- --ids own
- --ties discard || --policy majority > --supersede | --order doubt | --adjudicator eva | --import {decisions}
- --policy majority > --sheet s.csv | --request {pairs} || --sheet {folder}/s.csv > --supersede | --dry-run
- --import {decisions} > --order doubt | --adjudicator eva | --dry-run
- --request {pairs} > --order doubt | --adjudicator eva || --dry-run > --order doubt | --adjudicator eva
validate assign
+ = > --validators 2 || --pairs 5 | --blind | --seed 5 || checking/ = > --redo || checking/ =--redo > --more
validate import
+ checked/ ={verdicts} > --supersede
validate sheets
+ --sheet-format xlsx | --ids own
partition
+ four_labels/ =--tier bronze > --as-of 1
+ = > --diamond majority | --tier bronze || --out {folder}/b.csv | --layout fc-conan | --ids own
- = > --ids own | --layout fc-conan | --out {folder}/b.csv || --as-of 1 > --diamond majority
explain
+ --diamond majority
evaluate
+ --system bm25 | --pool all | --tier gold | --measure RBP | --cutoff 3 | --resamples 100 | --no-positives leave_out
+ --dry-run | --runs {folder}/r || --runs {folder}/r > --ids own
+ --format json --resamples 100 > --seed 5 || --tier diamond > --diamond majority
+ --unjudged {folder}/u.csv
- --caption | --figure-width page || --measure NDCG@5 > --cutoff 3
export beir
+ =--out {folder}/b > --tier bronze || =--tier bronze > --out {folder}/b
+ --pool positive | --binary | --ids own | --diamond majority
export corpus
+ = > --out {folder}/c.csv || =--out {folder}/c.csv > --without bronze | --ids own || --pool positive
- =--out {folder}/c.csv > --pool judged | --diamond majority
export decisions
+ = > --out {folder}/d.csv || --ids own
export hf
+ = > --out {folder}/h || --diamond majority | --ids own
export pairs
+ =--out {folder}/p > --tier bronze || =--tier bronze > --out {folder}/p || --test-share 0.25 | --seed 5
+ =--tier diamond --test-share 0.5 --out {folder}/p > --diamond majority
export preferences
+ =--out {folder}/p > --tier bronze || =--tier bronze > --out {folder}/p
+ --test-share 0.25 | --seed 5 | --negatives 1
+ =--tier diamond --test-share 0.75 --out {folder}/p > --diamond majority
- compared/ =--grid rank --out {folder}/p.jsonl > --seed 5 | --negatives 1 | --test-share 0.5 | --diamond majority
export qrels
+ =--out {folder}/q > --tier bronze || =--tier bronze > --out {folder}/q
+ --pool positive | --binary | --ids own | --diamond majority
export texts
+ =--grid write > --out {folder}/w.csv || --round nowhere || =--grid write --out {folder}/w > --layout training
+ =--grid write --out {folder}/w --layout training > --test-share 0.5 | --seed 5
- --test-share 0.5 | --seed 5
export triplets
+ =--out {folder}/p > --tier bronze || =--tier bronze > --out {folder}/p
+ --test-share 0.25 | --seed 5 | --negatives 1
+ =--tier diamond --test-share 0.75 --out {folder}/p > --diamond majority
release
+ =v1 --form {form} > --out {folder}/r || =v1 --out {folder}/r > --form {form} || --no-texts | --seed 5 | --template
+ --ids own
+ =v1 --out {folder}/r --form {draft} > --draft
note
+ --pair 3 || =x --pair 3 > --flag set
- --flag set
report
+ = > --out {folder}/other.html
methods
+ --markup latex | --out {folder}/m
~ --evaluation
describe
+ ={t} > --text cn || ={t} --text cn > --where type=a | --sample 4 | --labels type | --row hs | --group target
+ ={t} --text cn > --source source | --writer writer | --more-than 2 | --under 9 | --check-printed {printed}
+ ={t} --text cn > --reader crowdcounter || ={t} --text cn --sample 4 > --seed 5 || =--text label > --round nowhere
+ ={t} --text cn --labels type > --label a | --aliases {aliases} | --by target | --keywords 1
+ ={t} --text cn --labels type --label a > --write-aliases {folder}/al.csv
- ={t} --text cn > --grid main | --round label | --study {study} | --seed 5 | --label a | --aliases {aliases}
- ={t} --text cn > --by target | --keywords 5 | --write-aliases {folder}/al.csv
- labelled/ =--text cn > --reader table
- ={t} --text cn --labels type --label a --write-aliases {folder}/al.csv > --row hs | --group target | --source source
- ={t} --text cn --labels type --label a --write-aliases {folder}/al.csv > --writer writer | --by target
- ={t} --text cn --labels type --label a --write-aliases {folder}/al.csv > --more-than 2 | --under 9 | --keywords 3
- ={t} --text cn --labels type --label a --write-aliases {folder}/al.csv > --check-printed {printed}
- ={t} --text cn --labels type --check-printed {printed} > --keywords 3
split
+ ={t} --labels type --share 0.5 > --cluster hs || ={t} --cluster hs --share 0.5 > --labels type
+ ={t} --labels type --cluster hs > --share 0.5 || ={t} {split} > --seed 5 | --out {folder}/s.csv | --label a
+ ={t} {split} > --aliases {aliases} | --where type=a | --sample 5 | --reader crowdcounter
+ =--labels label --cluster row --share 0.5 > --round nowhere
- ={t} {split} > --grid main | --round label | --study {study} || labelled/ ={split} > --reader table
measure
+ ={t} --measure dist-2 > --text cn || ={t} --text cn > --measure dist-2
+ ={t} --text cn --measure dist-2 > --where type=a | --sample 4 | --by type | --language en | --reader crowdcounter
+ ={t} --text cn --measure dist-2 --sample 4 > --seed 5 || ={t} --text cn --measure chrf > --reference ref
+ ={t} --text cn --measure chrf --reference ref > --row hs | --each {folder}/e.csv
+ labelled/ =--text label --measure dist-2 > --round nowhere
- ={t} --text cn --measure dist-2 > --grid main | --round label | --study {study} | --seed 5 | --row hs
- labelled/ =--text cn --measure dist-2 > --reader table
classify
+ ={t} --predicted guess > --truth type || ={t} --truth type > --predicted guess
+ ={t} {classify} > --label a --label b --label c --label d | --ignore b | --by target | --cluster hs | --where type=a
+ ={t} {classify} > --sample 5 | --reader crowdcounter || ={t} {classify} --cluster hs > --resamples 2000
+ ={t} {classify} --cluster hs --format json > --seed 5 || ={t} --truth type --text cn > --classifier {folder}/none
+ ={t} --truth type --classifier x > --text cn || labelled/ =--truth label --predicted by > --round nowhere
- ={t} {classify} > --grid main | --round label | --study {study} | --threshold 0.5 | --text cn
- labelled/ ={classify} > --reader table
correlate
+ ={t} --rating rating > --score score || ={t} --score score > --rating rating || ={t} {correlate} > --text id
+ ={t} {correlate} > --by type | --population {population} | --where type=a | --sample 9 | --reader crowdcounter
+ ={t} {correlate} > --resamples 2000 | --rater who || ={t} {correlate} --format json > --seed 5
+ labelled/ =--score cell --rating label > --round nowhere
- ={t} {correlate} > --grid main | --round label | --study {study} || labelled/ ={correlate} > --reader table
ratings
+ ={t} --rater who > --rating rating || ={t} --rating rating > --rater who || ={t} {ratings} > --criterion type
+ ={t} {ratings} > --source source | --where type=a | --sample 9 | --reader crowdcounter | --resamples 2000
+ ={t} {ratings} > --text hs || ={t} {ratings} --format json > --seed 5 || labelled/ =--rating label > --round nowhere
- ={t} {ratings} > --grid main | --round label | --study {study} || labelled/ ={ratings} > --reader table
ask import
+ --question q | --answers a,b,c | --part 1 | --as-list | --suggest Why? | --seed 5
+ ={statements} --study {folder}/new.db > --title T
- --title T
ask open
+ = > --respondents 2
ask results
+ ={asked} {columns} > --keep believed>0.5 | --by gender | --population-size 20 | --margin 0.1 | --statement other
+ ={asked} {columns} > --question-column other | --person other | --answer other
+ ={asked} {columns} --keep believed>0.1 > --out {folder}/k.csv
- --statement other | --question-column other | --person other | --answer other | --caption | --figure-width page
- --out {folder}/k.csv || ={asked} > --grid survey | --study {study} || --keep believed>0.5 > --by Gender
items expand
+ ={templates} > --count | --out {folder}/i.csv || --reader bbq
+ ={templates} --out {folder}/i.csv > --limit 1 | --seed 5
+ ={templates} --out {folder}/i > --layout hf | --layout lm-eval
- --seed 5 | --layout table | --limit 9 | --out {folder}/i.csv
diversity
+ ={t} > --reader table || ={t} --reader table > --text cn || ={t} --reader table --text cn > --by type
+ ={t} --reader table --text cn > --stop {stop} | --homogenization bertscore | --model nowhere | --language fa
+ ={templates} > --unit item
- dealt/ = > --reader fcpair | --unit item || ={t} --reader table --text cn > --unit item
- ={templates} > --grid main | --study {study} | --text cn | --by x
bias score
+ ={said} --answer model > --as bbq || ={said} --as bbq > --answer model || --templates {t}
+ ={items} --as pbbq --answer said > --reader items || dealt/ =--as bbq > --round nowhere
+ ={items} --as pbbq --reader items > --probability p --probability q --probability r
+ ={items} {items_too} > --survey {believers}
+ ={items} {items_too} --survey {believers} > --question heard | --smooth 0.1
- --question believed | --smooth 0.1 | --caption | --figure-width page | --round label | --grid main | --study {study}
- dealt/ =--as bbq > --reader bbq | --answer model | --probability p | --templates {t} | --strict-targets
- ={items} --as pbbq --reader items --answer said > --templates {t} | --strict-targets
- ={said} --as bbq --answer model > --probability p
~ --strict-targets
doctor
+ --as-it-is
restore
+ --check
- --check > --create | --study {folder}/again.db
copy
- --create
serve
- = > --opt-out-split ;
calibrate show, people forget, people let-on, people list, people qualified, people revoke, people role, people terms
labels withdraw
~ --pair | --who | --note
answers withdraw
~ --pair | --who | --note | --round
validate withdraw
~ --pair | --who | --note
verify, diff, recipe, status, grids, log, backup, upgrade
"""
# Which plan a grid: beside --power, that is about an evaluation, none has an effect.
PLANNED = {**{"--coefficient": "alpha", "--pilot": "{pilot}"}, **dict.fromkeys(("--hs", "--cn", "--annotators"), "3")}


class Rows(NamedTuple):
    """Rows `context > option`: those that change something, those that are refused, and options tested elsewhere."""

    changing: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def read_effects(table: str) -> dict[tuple[str, ...], Rows]:
    """The rows of each command."""
    effects: dict[tuple[str, ...], Rows] = {}
    path: tuple[str, ...] = ()
    for line in table.strip().splitlines():
        sign, _, text = line.partition(" ")
        if sign not in {"+", "-", "~"}:
            for name in line.split(", "):
                path = tuple(name.split())
                effects[path] = Rows()
            continue
        field = {"+": "changing", "-": "idle", "~": "elsewhere"}[sign]
        effects[path] = effects[path]._replace(**{field: (*getattr(effects[path], field), *rows_of(text))})
    return effects


def rows_of(text: str) -> Iterator[str]:
    for part in text.split(" || "):
        context, _, options = part.rpartition(" > ") if " > " in part else ("", "", part)
        for option in options.split(" | "):
            yield f"{context} > {option}" if context else option


EFFECTS = read_effects(TABLE)
BESIDE_POWER = (f"=--power 0.8 --sd 0.2 > {flag} {PLANNED.get(flag, 0.5)}" for flag in map(flag_of, fields(Plan)))
EFFECTS["plan",] = EFFECTS["plan",]._replace(idle=(*BESIDE_POWER, *EFFECTS["plan",].idle))

WORDS = {
    "split": "--cluster hs --labels type --share 0.5",
    "classify": "--truth type --predicted guess --ignore d",
    "correlate": "--score score --rating rating",
    "ratings": "--rating rating --rater who",
    "columns": "--statement text --question-column asked --person who --answer said",
    "items_too": "--as bbq --reader items --answer said",
}
"""What several rows have in common, by the name that stands for it."""


def write_files(folder: Path) -> dict[str, str]:
    items = _items()
    folder = folder / "rows"
    folder.mkdir()
    tables = {**_tables(), **_answer_tables([str(one["statement"]) for one in items]), "items": items}
    files = {name: str(write_csv(folder / f"{name}.csv", rows)) for name, rows in tables.items()}
    texts = {
        "guide": ("guide.md", "# Read\n"),
        "stop": ("stop.txt", "word\n"),
        "run": ("mine.trec", "1 Q0 8 1 2.0 x\n1 Q0 9 2 1.0 x\n"),
        "draft": ("draft.toml", 'title = "T"\n'),
    }
    for name, (file, text) in texts.items():
        (folder / file).write_text(text, "utf-8")
        files[name] = str(folder / file)
    return files | WORDS


def _tables() -> dict[str, list[dict[str, object]]]:
    texts: list[dict[str, object]] = [
        {
            **{
                "id": at // 2,
                "hs": f"h{at % 3}",
                "cn": " ".join([f"{'abc'[at % 3]}{more}" for more in "wxyz"[: 1 + at % 4]]),
            },
            **{"ref": f"word two w{at}", "type": "abc"[at % 3], "guess": "abd"[at % 3], "target": "xy"[at % 2]},
            **{
                "source": "st"[at % 2],
                "writer": f"p{at % 4}",
                "score": at * at % 7,
                "rating": at % 5,
                "who": f"r{at % 2}",
            },
        }
        for at in range(12)
    ]
    languages: list[dict[str, object]] = [
        {
            **{"hs": f"h{at}", "cn": f"c{at}", "language": ("en", "de")[at % 2], "lang": "en"},
            **{"hs_c": f"H{at}", "cn_c": "C", "hs_i": f"i{at}", "cn_i": f"j{at}"},
        }
        for at in range(4)
    ]
    return {
        "t": texts,
        "languages": languages,
        "plain": [{"hs": "h", "cn": "c"}],
        "documents": [{"id": "d1", "cn": "c"}],
        "unpaired": [{"hs": "h", "cn": "c"}, {"hs": "", "cn": "d"}],
        "hs": [{"hs": one} for one in HS[:3]],
        "cns": [{"cn": one} for one in CNS[:4]],
        "pairs": [{"pair": 3}],
        "some": [{"pair": at} for at in (9, 3, 4, 12, 1, 8)],
        "new_hs": [{"hs": "Bikes are a nuisance."}],
        "new_cns": [{"cn": "Are they, though?"}],
        "population": [{"score": 1.5 + at / 1000} for at in range(90)],
        "printed": [{"figure": "mean words", "printed": "2.50"}],
        "aliases": [{"spelling": one, "label": one.upper()} for one in "abc"],
        "again": [{"pair": 3, "annotator": "ana", "label": "not_sure"}],
        "again2": [{"cell": 3, "by": "ana", "label": "not_sure"}],
        "decisions": [{"pair": 5, "label": "appropriate"}],
        "verdicts": [{"pair": 2, "validator": "vera", "verdict": "disagree"}],
        "pilot": [
            {"pair": pair, "hs": f"h{pair % 4}", "cn": f"c{pair % 6}", "annotator": who, "label": label}
            for pair in range(24)
            for who, label in (("ana", pair % 3), ("ben", (pair * pair) % 3))
        ],
    }


def _answer_tables(statements: list[str]) -> dict[str, list[dict[str, object]]]:
    """Answers of twelve people to a survey, as a table of somebody else's and as one of ours about our items."""
    asked: list[dict[str, object]] = [
        {"who": f"p{at}", "gender": "fm"[at % 2], "text": text, "asked": asked, "said": said, "item": f"{text} {asked}"}
        for at in range(12)
        for text in ("Owls sleep.", "Larks sing.")
        for asked, said in (("heard", "yes"), ("believed", "yes" if at % 3 else "no"))
    ]
    believers: list[dict[str, object]] = [
        {"by": f"p{at}", "row": statement, "column": column, "answer": ("yes", "no")[at % n]}
        for at in range(12)
        for statement in dict.fromkeys(statements)
        for column, n in (("heard", 1), ("believed", 2))
    ]
    return {"asked": asked, "believers": believers}


def _items() -> list[dict[str, object]]:
    """Items of our templates, each with an answer and with the probabilities of its options."""
    from fcpair.bias.items import expand
    from fcpair.files.surveys.templates import read_templates

    path = Path(__file__).parents[2] / "examples" / "survey-templates.toml"
    frame = expand(read_templates(path, "fcpair")[0], str(path)).frame[::9]
    said = [row[f"option_{at % 3}"] for at, row in enumerate(frame.to_dict("records"))]
    answered = frame.assign(said=said, p=0.5, q=0.3, r=0.2)
    return [{str(name): value for name, value in row.items()} for row in answered.to_dict("records")]
