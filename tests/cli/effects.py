"""What each option of each command changes, and where it has no effect: rows for `test_effects.py`.

A row is `context > option`: what is given in addition to the command's call in CALLS, and then the option. A context
that begins with `=` is in place of that call, and one with `dealt/` is on the study at that stage, or on one of BUILT.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from steps.small import CNS, HS, write_csv

from fcpair.param_values import flag_of
from fcpair.params import Plan

Path_ = tuple[str, ...]


class Rows(NamedTuple):
    """Rows in which the option changes what comes of a command, and others in which it is refused.

    What options of `elsewhere` change is tested where there is what they need: a server, a model that is asked, a
    decision by a person, a limit to be loosened, a person who was refused, items without a target, or evaluations.
    """

    changing: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


FIGURES = ("--caption", "--figure-width page")  # which have no effect without --figures
PLANNED = {
    **{"--coefficient": "alpha", "--pilot": "{pilot}"},
    **dict.fromkeys(("--hs", "--cn", "--annotators"), "3"),
}
PUBLISHED = ("--language-column", "--hs-column", "--cn-column", "--hs-id-column", "--cn-id-column")
RETRIEVING = ("--k 3", "--model x", "--backend onnx", "--count-duplicates", "--memory-mb 64", "--dask local:1")
DESCRIBING = (
    *("--row hs", "--group target", "--source source", "--writer writer", "--by target", "--more-than 2"),
    *("--under 9", "--keywords 3", "--check-printed {printed}"),
)
OF_ROUND = "--round nowhere"
PILOTED = (
    *("--prevalence 0.4", "--not-sure 0.2", "--kappa 0.7", "--hs-effect 0.2", "--cn-effect 0.2"),
    "--annotator-effect 0.5",
)
NEW_GRID = "=--study {folder}/none.db --hs 4 --cn 6 --annotators 3"
TIER = ("--tier silver", "--out {folder}/other")
DRAWN = ("--test-share 0.25", "--seed 5")


def of_table(words: str) -> tuple[str, ...]:
    """Rows of a command that reads a table or a round: what is about the one has no effect beside the other."""
    options = ("--grid main", "--round label", "--study {study}")
    return (*(f"={{t}} {words} > {one}" for one in options), f"labelled/ ={words} > --reader table")


EFFECTS: dict[Path_, Rows] = {
    ("init",): Rows(
        tuple(
            f"=--study {{folder}}/new.db > {one}"
            for one in ("--title T", "--guidelines {guide}", "--hs-name q", "--cn-name d", "--folding arabic")
        )
    ),
    ("run",): Rows(elsewhere=("--loosen",)),
    ("import",): Rows(
        (
            "--reader jsonl",
            "={languages} > --only-language en",
            *(f"={{languages}} > {flag} {flag[2:6].replace('-', '_')}" for flag in PUBLISHED),
            "={unpaired} > --unpaired",
            "imported/ > --redo",
        ),
        (
            "={plain} > --only-language de",
            *(f"={{languages}} --reader {one} > {flag} x" for one in ("conan", "mt-conan") for flag in PUBLISHED),
        ),
    ),
    ("select",): Rows(
        ("= > --hs 3", "= > --hs-list {hs}", "--seed 5", "--seed 1 > --stratify hs_topic", "selected/ > --redo"),
        ("=--hs-list {hs} > --seed 5", "=--hs-list {hs} > --stratify hs_topic", "=--hs-list {hs} > --hs 3"),
    ),
    ("retrieve",): Rows(
        ("=--run {run} > --depth 1", "retrieved/ =--every-cn > --redo"),
        (
            *(f"={way} > {one}" for way in ("--every-cn", "--cn-list {cns}", "--run {run}") for one in RETRIEVING),
            *("=--every-cn > --depth 3", "=--cn-list {cns} > --every-cn", "=--cn-list {cns} > --run {run}"),
            "=--every-cn > --cn-list {cns}",
        ),
    ),
    ("pair",): Rows(
        (
            "--candidates 3",
            "--candidates 3 > --seed 5",
            "known/ =--redo > --keep-known",
            "--sample 5",
            "paired/ > --redo",
        ),
        ("--seed 5",),
    ),
    ("plan",): Rows(
        (
            *("--width 1.5", "--width 1.5 > --coefficient fleiss", "--width 1.5 > --save", "= > --annotators 2"),
            *("--hs 3", "--cn 3", "--seconds 10", "--three 0.1", "--validated 0.5", "--valid 0.5", "--level 0.9"),
            *(*PILOTED, "--pilot {pilot}", "= > --power 0.8 --sd 0.2", "=--power 0.8 > --sd 0.2"),
            *("=--power 0.8 --sd 0.2 > --difference 0.1", "=--power 0.8 --sd 0.2 > --comparisons 3"),
            *("=--power 0.8 > --system nothing", f"{NEW_GRID} > --scheme one_of(no,yes+)"),
            *("--figures {folder}/f > --caption", "--figures {folder}/f > --figure-width column"),
            "--figures {folder}/f",
        ),
        (
            *(f"=--power 0.8 --sd 0.2 > {flag} {PLANNED.get(flag, 0.5)}" for flag in map(flag_of, fields(Plan))),
            *(f"=--power 0.8 --sd 0.2 > {one}" for one in ("--save", "--scheme x", "--figures {folder}/f")),
            *("--comparisons 1", "--difference 0.05", "--sd 0.2", "--system tfidf", "--coefficient alpha"),
            *("--scheme one_of(no,yes+)", "--save", f"{NEW_GRID} > --grid main", *FIGURES),
            *(f"--pilot {{pilot}} > {one}" for one in PILOTED),
            *(f"labelled/ = > {one}" for one in PILOTED),
        ),
    ),
    ("calibrate", "start"): Rows(("= > --annotators 2", "--pairs 5", "--counts first", "--seed 5", OF_ROUND)),
    ("calibrate", "discuss"): Rows(("= > --early",)),
    ("calibrate", "close"): Rows(("= > --early",)),
    ("calibrate", "show"): Rows(),
    ("assign",): Rows(
        (
            *("= > --annotators 2", "--overlap 2:0.5", "=--annotators 4 --overlap 2:0.5 > --annotator-group a1,a2"),
            *("--order hs", "--seed 5", "--open", "--open > --lease-minutes 5", OF_ROUND),
            *("dealt/ = > --redo", "dealt/ = > --more", "dealt/ =--more > --pairs-file {pairs}", "dealt/ = > --close"),
        ),
        (
            *("--lease-minutes 5", "--overlap 2:0.2 > --overlap 2:0.4", "--annotator-group a1,a2"),
            *(
                "--open > --order hs",
                "--open --overlap 2:0.5 > --annotator-group a1,a2",
                "dealt/ = > --pairs-file {pairs}",
            ),
            *("dealt/ =--more > --redo", "dealt/ =--more > --close", "=--order hs > --round label"),
            "dealt/ =--more --overlap 2:0.5 > --pairs-file {pairs}",
        ),
    ),
    ("people", "add"): Rows(("--role validator", "--url http://x")),
    ("people", "controls"): Rows(("--rate 0.5", "--seed 5")),
    ("people", "dismiss"): Rows(("--seed 5", "--reason Bye", "=ana > --yes")),
    ("people", "forget"): Rows(),
    ("people", "handover"): Rows(("--to ben", "--last 2", "--seed 5")),
    ("people", "invite"): Rows(("= > --all", "--out {folder}/l.csv", "--url http://x"), ("--all",)),
    ("people", "let-on"): Rows(),
    ("people", "list"): Rows(),
    ("people", "pilot"): Rows((OF_ROUND,)),
    ("people", "qualified"): Rows(),
    ("people", "qualify"): Rows(("--pass-mark 0.5", "--known-pairs 1", "--seed 5")),
    ("people", "retire"): Rows(("--seed 5",)),
    ("people", "revoke"): Rows(),
    ("people", "role"): Rows(),
    ("people", "rotate-secret"): Rows(("= > --yes",)),
    ("people", "terms"): Rows(),
    ("labels", "export"): Rows(
        ("--layout cells", f"--layout cells > {OF_ROUND}", "below_the_mark/ > --known", "= > --out {folder}/l.csv"),
        ("--round label",),
    ),
    ("labels", "import"): Rows(
        (
            *("--reader cells", f"--reader cells > {OF_ROUND}"),
            "labelled/ ={again} > --supersede",
        ),
        ("--people {t}", "--reader fc-conan > --supersede", "--round label", "--reader fc-conan > --round label"),
        ("--people",),
    ),
    ("labels", "sheets"): Rows(
        ("--layout cells", f"--layout cells > {OF_ROUND}", "--sheet-format xlsx"), ("--round label",)
    ),
    ("labels", "withdraw"): Rows(),
    ("answers", "export"): Rows(
        ("--layout pairs", OF_ROUND, "below_the_mark/ > --known", "= > --out {folder}/l.csv"),
        ("--layout pairs > --round label",),
    ),
    ("answers", "import"): Rows(
        (
            "--reader pairs",
            OF_ROUND,
            "labelled/ ={again2} > --supersede",
        ),
        ("--people {t}", "--reader fc-conan > --supersede", "--reader pairs > --round label"),
        ("--people",),
    ),
    ("answers", "refusals"): Rows((OF_ROUND,)),
    ("answers", "replies"): Rows(
        ("=--out {folder}/x.csv > --round propose", "=--round propose > --out {folder}/x.csv")
    ),
    ("answers", "sheets"): Rows(
        ("--layout pairs", OF_ROUND, "--sheet-format xlsx"), ("--layout pairs > --round label",)
    ),
    ("answers", "withdraw"): Rows(),
    ("simulate",): Rows(
        (
            *("--accuracy 0.2", "--positive 0.9", "--leaning 0.9", "--leaning 0.9 > --leaning-to not_sure"),
            *("--not-sure 0.5", "--skips 0.5", "--hs-effect 0.5", "--cn-effect 0.5", "--seed 5"),
            "--hs-effect 0.1 > --annotator-effect 2",
        ),
        ("--leaning-to not_sure",),
    ),
    ("examples", "find"): Rows(("= > --round propose", "=--grid replies --round propose > --redo")),
    ("examples", "list"): Rows(("=--grid replies > --round propose",)),
    ("examples", "review"): Rows(("=--grid replies {folder}/reviewed.csv > --round propose",)),
    ("examples", "sheet"): Rows(("=--grid replies {folder}/s.csv > --round propose",)),
    ("generate",): Rows(
        ("= > --round propose", "--dry-run", "--dry-run > --price-in 1 --price-out 2"),
        ("--price-in 1", "--price-out 1", "--dry-run > --price-in 1"),
    ),
    ("curation",): Rows((OF_ROUND,)),
    ("agreement",): Rows(
        (
            *(OF_ROUND, "--weights linear", "--indefinite drop", "--intervals annotators", "--level 0.9"),
            *("--blocks row", "--blocks row > --metadata hs_topic", "--bin 1-2"),
        ),
        ("--metadata hs_topic",),
    ),
    ("aggregate",): Rows(("--label-model majority", OF_ROUND, "--out {folder}/p.csv"), ("--seed 5",), ("--seed",)),
    ("groups",): Rows(
        (
            *("={asked} --annotator who --labels said --by gender > --item item", OF_ROUND, "--mixed"),
            *("={asked} --item item --labels said --by gender > --annotator who", "--by Age"),
            "={asked} --item item --annotator who --by gender > --labels said",
        ),
        (
            *("--item item", "--annotator who", *FIGURES),
            *(
                f"={{asked}} --item item --annotator who --labels said --by gender > {one}"
                for one in ("--round label", "--grid survey", "--study {study}")
            ),
        ),
        ("--seed",),
    ),
    ("adjudicate",): Rows(
        (
            *(
                "labelled/ = > --policy majority",
                "labelled/ =--policy majority > --ties discard",
                "--import {decisions}",
            ),
            *("--sheet {folder}/s.csv", "--sheet {folder}/s.csv > --order doubt", "--request {pairs}", "--dry-run"),
            "--sheet {folder}/s.csv > --adjudicator eva",
        ),
        (
            *("--ties discard", "--policy majority > --supersede", "--sheet {folder}/s.csv > --supersede"),
            *(
                f"{way} > {one}"
                for way in ("--policy majority", "--import {decisions}", "--request {pairs}", "--dry-run")
                for one in ("--order doubt", "--adjudicator eva")
            ),
            *(f"{way} > --dry-run" for way in ("--import {decisions}", "--sheet {folder}/s.csv")),
            *("--policy majority > --import {decisions}", "--policy majority > --sheet s.csv"),
            "--policy majority > --request {pairs}",
        ),
    ),
    ("validate", "assign"): Rows(
        ("= > --validators 2", "--pairs 5", "--blind", "--seed 5", "checking/ = > --redo", "checking/ =--redo > --more")
    ),
    ("validate", "import"): Rows(("checked/ ={verdicts} > --supersede",)),
    ("validate", "sheets"): Rows(("--sheet-format xlsx",)),
    ("validate", "withdraw"): Rows(),
    ("partition",): Rows(
        ("= > --diamond majority", "= > --tier bronze", "--out {folder}/b.csv", "--layout fc-conan"),
        ("= > --layout fc-conan", "= > --out {folder}/b.csv"),
    ),
    ("explain",): Rows(("--diamond majority",)),
    ("evaluate",): Rows(
        (
            *("--system bm25", "--pool all", "--tier gold", "--measure RBP", "--cutoff 3", "--resamples 100"),
            *(
                "--no-positives leave_out",
                "--format json --resamples 100 > --seed 5",
                "--tier diamond > --diamond majority",
                "--dry-run",
            ),
            "--runs {folder}/r",
        ),
        (*FIGURES, "--measure NDCG@5 > --cutoff 3"),
    ),
    ("export", "beir"): Rows(
        (
            "=--out {folder}/b > --tier bronze",
            "=--tier bronze > --out {folder}/b",
            "--pool positive",
            "--binary",
            "--diamond majority",
        )
    ),
    ("export", "corpus"): Rows(
        (*("= > --out {folder}/c.csv", "=--out {folder}/c.csv > --without bronze", "--pool positive"),),
        ("=--out {folder}/c.csv > --pool judged", "=--out {folder}/c.csv > --diamond majority"),
    ),
    ("export", "decisions"): Rows(("= > --out {folder}/d.csv",)),
    ("export", "hf"): Rows(("= > --out {folder}/h", "--diamond majority")),
    ("export", "pairs"): Rows(
        (
            "=--out {folder}/p > --tier bronze",
            "=--tier bronze > --out {folder}/p",
            *DRAWN,
            "=--tier diamond --test-share 0.5 --out {folder}/p > --diamond majority",
        )
    ),
    ("export", "preferences"): Rows(
        (
            *("=--out {folder}/p > --tier bronze", "=--tier bronze > --out {folder}/p", *DRAWN, "--negatives 1"),
            "=--tier diamond --test-share 0.75 --out {folder}/p > --diamond majority",
        )
    ),
    ("export", "qrels"): Rows(
        (
            "=--out {folder}/q > --tier bronze",
            "=--tier bronze > --out {folder}/q",
            "--pool positive",
            "--binary",
            "--diamond majority",
        )
    ),
    ("export", "texts"): Rows(
        (
            *("=--grid write > --out {folder}/w.csv", OF_ROUND, "=--grid write --out {folder}/w > --layout training"),
            *(
                f"=--grid write --out {{folder}}/w --layout training > {one}"
                for one in ("--test-share 0.5", "--seed 5")
            ),
        ),
        ("--test-share 0.5", "--seed 5"),
    ),
    ("export", "triplets"): Rows(
        (
            *("=--out {folder}/p > --tier bronze", "=--tier bronze > --out {folder}/p", *DRAWN, "--negatives 1"),
            "=--tier diamond --test-share 0.75 --out {folder}/p > --diamond majority",
        )
    ),
    ("release",): Rows(
        (
            *("=v1 --form {form} > --out {folder}/r", "=v1 --out {folder}/r > --form {form}", "--no-texts", "--seed 5"),
            *("=v1 --out {folder}/r --form {draft} > --draft", "--template"),
        )
    ),
    ("verify",): Rows(),
    ("diff",): Rows(),
    ("recipe",): Rows(),
    ("status",): Rows(),
    ("grids",): Rows(),
    ("log",): Rows(),
    ("note",): Rows(("--pair 3",)),
    ("report",): Rows(("= > --out {folder}/other.html",)),
    ("methods",): Rows(("--markup latex", "--out {folder}/m"), (), ("--evaluation",)),
    ("describe",): Rows(
        (
            *("={t} > --text cn", "={t} --text cn > --where type=a", "={t} --text cn > --sample 4"),
            *("={t} --text cn --sample 4 > --seed 5", "={t} --text cn > --labels type", f"=--text label > {OF_ROUND}"),
            *(f"={{t}} --text cn > {one}" for one in DESCRIBING[:4]),
            *(f"={{t}} --text cn > {one}" for one in (*DESCRIBING[5:7], DESCRIBING[8])),
            *(
                f"={{t}} --text cn --labels type > {one}"
                for one in ("--label a", "--aliases {aliases}", "--by target", "--keywords 1")
            ),
            *("={t} --text cn --labels type --label a > --write-aliases {folder}/al.csv",),
            "={t} --text cn > --reader crowdcounter",
        ),
        (
            *(
                *of_table("--text cn"),
                "={t} --text cn > --seed 5",
                *(
                    f"={{t}} --text cn > {one}"
                    for one in ("--label a", "--aliases {aliases}", "--by target", "--keywords 5")
                ),
            ),
            *(
                f"={{t}} --text cn --labels type --label a --write-aliases {{folder}}/al.csv > {one}"
                for one in DESCRIBING
            ),
            *("={t} --text cn --labels type --check-printed {printed} > --keywords 3",),
            "={t} --text cn > --write-aliases {folder}/al.csv",
        ),
    ),
    ("split",): Rows(
        (
            *("={t} --labels type --share 0.5 > --cluster hs", "={t} --cluster hs --share 0.5 > --labels type"),
            *("={t} --labels type --cluster hs > --share 0.5", "={t} {split} > --seed 5"),
            *(
                f"={{t}} {{split}} > {one}"
                for one in ("--out {folder}/s.csv", "--label a", "--aliases {aliases}", "--where type=a", "--sample 5")
            ),
            *("={t} {split} > --reader crowdcounter", f"=--labels label --cluster row --share 0.5 > {OF_ROUND}"),
        ),
        of_table("{split}"),
    ),
    ("measure",): Rows(
        (
            *("={t} --measure dist-2 > --text cn", "={t} --text cn > --measure dist-2"),
            *(
                f"={{t}} --text cn --measure dist-2 > {one}"
                for one in ("--where type=a", "--sample 4", "--by type", "--language en", "--reader crowdcounter")
            ),
            *(
                "={t} --text cn --measure dist-2 --sample 4 > --seed 5",
                "={t} --text cn --measure chrf > --reference ref",
            ),
            *("={t} --text cn --measure chrf --reference ref > --row hs",),
            *("={t} --text cn --measure chrf --reference ref > --each {folder}/e.csv",),
            f"labelled/ =--text label --measure dist-2 > {OF_ROUND}",
        ),
        (
            *of_table("--text cn --measure dist-2"),
            "={t} --text cn --measure dist-2 > --seed 5",
            "={t} --text cn --measure dist-2 > --row hs",
        ),
    ),
    ("classify",): Rows(
        (
            *("={t} --predicted guess > --truth type", "={t} --truth type > --predicted guess"),
            *(
                f"={{t}} {{classify}} > {one}"
                for one in (
                    "--label a --label b --label c --label d",
                    "--ignore b",
                    "--by target",
                    "--cluster hs",
                    "--where type=a",
                    "--sample 5",
                    "--reader crowdcounter",
                    "--cluster hs > --resamples 2000",
                    "--cluster hs --format json > --seed 5",
                )
            ),
            *(
                "={t} --truth type --text cn > --classifier {folder}/none",
                "={t} --truth type --classifier x > --text cn",
            ),
            f"labelled/ =--truth label --predicted by > {OF_ROUND}",
        ),
        (*of_table("{classify}"), "={t} {classify} > --threshold 0.5", "={t} {classify} > --text cn"),
    ),
    ("correlate",): Rows(
        (
            *("={t} --rating rating > --score score", "={t} --score score > --rating rating"),
            *(
                f"={{t}} {{correlate}} > {one}"
                for one in (
                    "--text id",
                    "--by type",
                    "--population {population}",
                    "--where type=a",
                    "--sample 9",
                    "--reader crowdcounter",
                    "--resamples 2000",
                    "--format json > --seed 5",
                )
            ),
            *("={t} {correlate} > --rater who", f"labelled/ =--score cell --rating label > {OF_ROUND}"),
        ),
        of_table("{correlate}"),
    ),
    ("ratings",): Rows(
        (
            *("={t} --rater who > --rating rating", "={t} --rating rating > --rater who"),
            *(
                f"={{t}} {{ratings}} > {one}"
                for one in (
                    "--criterion type",
                    "--source source",
                    "--where type=a",
                    "--sample 9",
                    "--reader crowdcounter",
                    "--resamples 2000",
                    "--format json > --seed 5",
                )
            ),
            *("={t} {ratings} > --text hs", f"labelled/ =--rating label > {OF_ROUND}"),
        ),
        of_table("{ratings}"),
    ),
    ("ask", "import"): Rows(
        (
            *("--question q", "--answers a,b,c", "--part 1", "--as-list", "--suggest Why?", "--seed 5"),
            "={statements} --study {folder}/new.db > --title T",
        ),
        ("--title T",),
    ),
    ("ask", "open"): Rows(("= > --respondents 2",)),
    ("ask", "results"): Rows(
        (
            *(
                f"={{asked}} {{columns}} > {one}"
                for one in ("--keep believed>0.5", "--by gender", "--population-size 20", "--margin 0.1")
            ),
            *(
                f"={{asked}} {{columns}} > {flag} other"
                for flag in ("--statement", "--question-column", "--person", "--answer")
            ),
            "={asked} {columns} --keep believed>0.1 > --out {folder}/k.csv",
        ),
        (
            *(f"{flag} other" for flag in ("--statement", "--question-column", "--person", "--answer")),
            *("={asked} > --grid survey", "={asked} > --study {study}", *FIGURES, "--out {folder}/k.csv"),
            "--keep believed>0.5 > --by Gender",
        ),
    ),
    ("items", "expand"): Rows(
        (
            *(
                "={templates} > --count",
                "={templates} > --out {folder}/i.csv",
                "--reader bbq",
                "={templates} --out {folder}/i.csv > --limit 1",
            ),
            *(f"={{templates}} --out {{folder}}/i > --layout {one}" for one in ("hf", "lm-eval")),
            "={templates} --out {folder}/i.csv > --seed 5",
        ),
        ("--seed 5", "--layout table", "--limit 9", "--out {folder}/i.csv"),
    ),
    ("diversity",): Rows(
        (
            *("={t} > --reader table", "={t} --reader table > --text cn", "={t} --reader table --text cn > --by type"),
            *(
                f"={{t}} --reader table --text cn > {one}"
                for one in ("--stop {stop}", "--homogenization bertscore", "--model nowhere", "--language fa")
            ),
            "={templates} > --unit item",
        ),
        (
            *("dealt/ = > --reader fcpair", "dealt/ = > --unit item", "={t} --reader table --text cn > --unit item"),
            *("={templates} > --grid main", "={templates} > --study {study}", "={templates} > --text cn"),
            "={templates} > --by x",
        ),
    ),
    ("bias", "score"): Rows(
        (
            *("={said} --answer model > --as bbq", "={said} --as bbq > --answer model", "--templates {t}"),
            *("={items} --as pbbq --answer said > --reader items", f"dealt/ =--as bbq > {OF_ROUND}"),
            *("={items} --as pbbq --reader items > --probability p --probability q --probability r",),
            *("={items} {items_too} > --survey {believers}",),
            *(
                f"={{items}} {{items_too}} --survey {{believers}} > {one}"
                for one in ("--question heard", "--smooth 0.1")
            ),
        ),
        (
            *("--question believed", "--smooth 0.1", *FIGURES, "--round label", "--grid main", "--study {study}"),
            *(
                f"dealt/ =--as bbq > {one}"
                for one in ("--reader bbq", "--answer model", "--probability p", "--templates {t}", "--strict-targets")
            ),
            *(
                f"={{items}} --as pbbq --reader items --answer said > {one}"
                for one in ("--templates {t}", "--strict-targets")
            ),
            *("={said} --as bbq --answer model > --probability p",),
        ),
        ("--strict-targets",),
    ),
    ("doctor",): Rows(("--as-it-is",)),
    ("backup",): Rows(),
    ("restore",): Rows(("--check",), ("--check > --create", "--check > --study {folder}/again.db")),
    ("copy",): Rows((), ("--create",)),
    ("upgrade",): Rows(),
    ("serve",): Rows((), ("= > --opt-out-split ;",)),
}

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
    """The files that rows name, by the names that stand for them."""
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
    """Tables of texts and of pairs."""
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
        "unpaired": [{"hs": "h", "cn": "c"}, {"hs": "", "cn": "d"}],
        "hs": [{"hs": one} for one in HS[:3]],
        "cns": [{"cn": one} for one in CNS[:4]],
        "pairs": [{"pair": 3}],
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
