"""Answers coming in: labels and verdicts from files, the published FC-CONAN files, and simulated people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fcpair import simulate as simulation
from fcpair.answers import read_answers
from fcpair.corpus import digest
from fcpair.errors import Finding, InputError, StageError, reject
from fcpair.label import NO_CODE, SKIP, label_words
from fcpair.params import Simulate
from fcpair.records import Origin, Round, RunRecord, Scheme, Status
from fcpair.steps import check, staff
from fcpair.steps.ground import note, note_run, scheme_of
from fcpair.store import Store, Tx, decisions, grids, people, texts, work
from fcpair.tabular import LINE

if TYPE_CHECKING:
    import pandas as pd


def import_labels(store: Store, path: str | Path, *, supersede: bool) -> RunRecord:
    """Record the labels of a file: filled-in sheets, or a long table made elsewhere."""
    with store.read() as tx:
        scheme = scheme_of(tx)
    given = read_answers(path, label_words(scheme), person="annotator", answer="label")
    with store.write() as tx:
        return _record(tx, path, given, Round.LABEL, supersede=supersede)


def import_verdicts(store: Store, path: str | Path, *, supersede: bool) -> RunRecord:
    """Record the verdicts of a file: filled-in sheets, or a long table made elsewhere."""
    with store.write() as tx:
        blind = check.is_blind(tx)
        words = label_words(scheme_of(tx)) if blind else check.VERDICT_WORDS
        given = read_answers(path, words, person="validator", answer="own_label" if blind else "verdict")
        return _record(tx, path, given, Round.VALIDATE, supersede=supersede)


def _record(tx: Tx, path: str | Path, given: pd.DataFrame, round_: Round, *, supersede: bool) -> RunRecord:
    given = locate(tx, path, given)
    given = _with_people(tx, path, given, round_)
    given = _with_assignments(tx, path, given, round_)
    if round_ is Round.VALIDATE:
        given = check.with_decisions(tx, given)
    new = _not_yet_there(tx, path, given, round_, supersede=supersede)
    save_answers(tx, new, Origin.IMPORTED)
    skips = int((new["code"] == NO_CODE).sum())
    counts: dict[str, Any] = {"answers": len(new) - skips, "skips": skips, "already_there": len(given) - len(new)}
    counts |= staff.refill(tx, seed=0) if skips else {}
    return note_run(tx, f"{round_.value} import", {"path": str(path), "supersede": supersede}, counts)


def locate(tx: Tx, path: str | Path, given: pd.DataFrame) -> pd.DataFrame:
    """Give each row the number of its pair; reject the file when a pair is not in the grid."""
    import pandas as pd

    there = grids.pairs(tx)
    if there.empty:
        raise StageError("the study has no pairs yet; run `fcpair pair`")
    if (given["pair"] == NO_CODE).all() and len(given):
        sides = given[["hs", "cn"]].apply(lambda side: side.map(digest).map(texts.text_ids(tx, str(side.name))))
        keyed = there.set_index(["hs_id", "cn_id"])["pair_id"]
        pair = keyed.reindex(pd.MultiIndex.from_frame(sides))
        missing = [f"`{_short(hs)}` x `{_short(cn)}`" for hs, cn in zip(given["hs"], given["cn"], strict=True)]
    else:
        pair = given["pair"].where(given["pair"].isin(there["pair_id"]))
        missing = [str(number) for number in given["pair"]]
    outside = pair.isna().to_numpy()
    lines = given[LINE].to_numpy()
    reject(
        path,
        [
            Finding(str(path), int(line), f"pair {name} is not in the grid")
            for line, name, out in zip(lines, missing, outside, strict=True)
            if out
        ],
    )
    return given.assign(pair_id=pair.to_numpy().astype("int64"))


def _short(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _with_people(tx: Tx, path: str | Path, given: pd.DataFrame, round_: Round) -> pd.DataFrame:
    role = staff.ROLE_IN[round_]
    known = {one.name: one.id for one in people.people(tx, role)}
    reject(
        path,
        [
            Finding(str(path), int(line), f"no {role} is called `{name}`; there are {', '.join(known) or 'none'}")
            for line, name in zip(given[LINE], given["person"], strict=True)
            if name not in known
        ],
    )
    return given.assign(person_id=given["person"].map(known).astype("int64"))


def _with_assignments(tx: Tx, path: str | Path, given: pd.DataFrame, round_: Round) -> pd.DataFrame:
    """Give each answer its assignment; answers to a study in which nothing was dealt bring their own."""
    dealt = work.assignments(tx, round_)
    if dealt.empty and round_ is Round.LABEL:
        work.add_assignments(tx, _undealt(given), round_)
        dealt = work.assignments(tx, round_)
    found = given.merge(
        dealt[["id", "pair_id", "person_id", "status"]].rename(columns={"id": "assignment_id"}),
        on=["pair_id", "person_id"],
        how="left",
    )
    strays = found[found["assignment_id"].isna()]
    reject(
        path,
        [
            Finding(str(path), int(line), f"pair {pair} was not dealt to {name}")
            for line, pair, name in zip(strays[LINE], strays["pair_id"], strays["person"], strict=True)
        ],
    )
    return found.astype({"assignment_id": "int64"})


def _undealt(given: pd.DataFrame) -> pd.DataFrame:
    own = given[["pair_id", "person_id"]].assign(status=Status.OPEN.value)
    own["position"] = own.groupby("person_id").cumcount() + 1
    return own


def _not_yet_there(tx: Tx, path: str | Path, given: pd.DataFrame, round_: Round, *, supersede: bool) -> pd.DataFrame:
    """Leave out answers that are there already; reject others to the same question unless they are to supersede."""
    there = decisions.current_codes(tx, round_).assign(there=True)
    there["code"] = there["code"].astype("Int64").fillna(NO_CODE)
    compared = given.merge(there.rename(columns={"code": "old"}), on="assignment_id", how="left")
    answered = compared["there"].notna().to_numpy()
    changed = answered & (compared["old"].fillna(NO_CODE) != compared["code"]).to_numpy(bool)
    if changed.any() and not supersede:
        strays = compared[changed]
        reject(
            path,
            [
                Finding(
                    str(path),
                    int(line),
                    f"{name} has answered pair {pair} otherwise already; --supersede takes this as the newer answer",
                )
                for line, name, pair in zip(strays[LINE], strays["person"], strays["pair_id"], strict=True)
            ],
        )
    return given[~answered | changed]


def save_answers(tx: Tx, answers: pd.DataFrame, origin: Origin) -> None:
    """Add judgements (`assignment_id`, `code`, -1 for a skip, `note`, ...) and note that their work is done."""
    skipped = answers["code"] == NO_CODE
    kept = [name for name in ("own_code", "adjudication_id", "seconds", "at") if name in answers.columns]
    rows = answers[["assignment_id", "note", *kept]].assign(
        skipped=skipped, code=answers["code"].astype("Int64").mask(skipped)
    )
    decisions.add_judgements(tx, rows, origin)
    statuses = skipped.map({True: Status.SKIPPED.value, False: Status.DONE.value})
    work.set_status(tx, answers["assignment_id"].tolist(), statuses.tolist())


def export_labels(store: Store) -> pd.DataFrame:
    """Every annotator's current answer of each pair, skips included.

    Columns: `pair`, `hs_id`, `cn_id`, `annotator`, `label`, `seconds`, `time`, `note`, `origin`.
    """
    with store.read() as tx:
        names = {choice.code: choice.name for choice in scheme_of(tx)}
        answers = decisions.all_answers(tx, Round.LABEL)
        sides = grids.pairs(tx).set_index("pair_id")
    label = answers["code"].astype("Int64").map(names).astype(object)
    answers["label"] = label.where(answers["skipped"] == 0, SKIP)
    answers = answers.join(sides, on="pair_id").rename(columns={"pair_id": "pair", "at": "time"})
    columns = ["pair", "hs_id", "cn_id", "annotator", "label", "seconds", "time", "note", "origin"]
    return answers[columns]


def simulate(store: Store, options: Simulate) -> RunRecord:
    """Let simulated people answer everything that is open: labels first, else verdicts."""
    with store.write() as tx:
        scheme = scheme_of(tx)
        habits = _habits(options, scheme)
        open_rounds = [round_ for round_ in Round if not work.open_work(tx, round_).empty]
        if not open_rounds:
            raise StageError("nothing is open to be answered; run `fcpair assign` or `fcpair validate assign`")
        round_ = open_rounds[0]
        counts = _simulate_round(tx, round_, scheme, habits, options.seed)
        return note(tx, options, {"round": round_.value, **counts})


def _simulate_round(tx: Tx, round_: Round, scheme: Scheme, habits: simulation.Habits, seed: int) -> dict[str, Any]:
    """Answer what is open, give what was skipped to others, and so on until nobody can take more."""
    import numpy as np

    pairs = grids.pairs(tx)["pair_id"].to_numpy()
    true = simulation.truths(len(pairs), scheme, habits.positive, seed)
    counts: Counter[str] = Counter(answers=0, skips=0, reassigned=0)
    vacant = 0
    for turn in range(len(people.people(tx)) + 1):
        assigned = work.assignments(tx, round_)
        open_ = assigned[assigned["status"] == Status.OPEN.value]
        if open_.empty:
            break
        turn_seed = int(np.random.SeedSequence([seed, turn]).generate_state(1)[0])
        given = open_.rename(columns={"id": "assignment_id"})[["assignment_id", "pair_id", "person_id"]].assign(note="")
        if round_ is Round.LABEL:
            of_pair = true[np.searchsorted(pairs, given["pair_id"])]
            given["code"] = simulation.answers(of_pair, scheme, habits, turn_seed)
        else:
            given = check.with_decisions(
                tx, given.assign(code=simulation.verdicts(len(given), habits, turn_seed)), blind=False
            )
        given["seconds"] = simulation.seconds(len(given), turn_seed)
        save_answers(tx, given, Origin.SIMULATED)
        skips = int((given["code"] == NO_CODE).sum())
        refilled = staff.refill(tx, turn_seed)
        counts.update(answers=len(given) - skips, skips=skips, reassigned=refilled["reassigned"])
        vacant = refilled["vacant"]
    return {**counts, "vacant": vacant}


def _habits(options: Simulate, scheme: Scheme) -> simulation.Habits:
    for name in ("accuracy", "positive", "leaning", "not_sure", "skips"):
        value = getattr(options, name)
        if not 0 <= value <= 1:
            raise InputError(f"{name} is {value}; expected a probability from 0 to 1")
    words = label_words(scheme)
    del words[SKIP]
    if options.leaning and options.leaning_to not in words:
        raise InputError(f"`{options.leaning_to}` is no label; expected one of {', '.join(words)}")
    leaning_to = words.get(options.leaning_to, scheme.codes[0])
    return simulation.Habits(
        options.positive, options.accuracy, options.leaning, leaning_to, options.not_sure, options.skips
    )
