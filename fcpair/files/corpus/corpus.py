"""Readers of corpora: CONAN, Multitarget-CONAN, CSV, JSONL and Parquet, each to one `Corpus`, and CrowdCounter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.tabular import (
    FRAME,
    LINE,
    Reading,
    Source,
    check_file,
    choose_reading,
    name_of,
    place_of,
    read_table,
    with_place,
)
from fcpair.files.tables.text_files import NO_TEXT_HERE, JsonObjects
from fcpair.lazy import pd
from fcpair.param_values import InMemory
from fcpair.params import Ids, Import, format_of
from fcpair.sentences import Id, join, mark, say
from fcpair.stages.corpus.text_identity import NO_TEXT, digest, fold_name
from fcpair.start_draft import ColumnsDraft
from fcpair.values import as_text, is_blank

HS, CN = "hs", "cn"
MAY_BE_UNPAIRED = "`--unpaired` reads such a row as a text without a pair"
COLUMNS_OF = "these are the columns of "
PUBLISHED_TEXTS = ("hate speech", "counternarrative")  # in a published partition, which is no corpus
OWN_COLUMNS = ("hs_id", "cn_id")  # a table with both was written by fcpair, and its guarded cells are read back
_HS_NAMES = (
    *("hs", "hs text", "hate speech", "hate", "query"),
    *("statement", "claim", "post", "comment", "message", "question"),
)
_CN_NAMES = (
    *("cn", "cn text", "counter narrative", "counter speech", "reply", "response"),
    *("document", "passage", "candidate", "rebuttal", "answer"),
)
_HS_IDS = ("hs id", "query id", "qid", "topic id")
_CN_IDS = ("cn id", "document id", "doc id", "docid", "docno", "passage id", "pid")


@dataclass(frozen=True)
class Corpus:
    """The source pairs, one per row of the file, in its order, and texts without a pair where they are taken.

    `pairs` has the columns `hs` and `cn` (verbatim; one of them empty where a text has no pair), `hs_digest` and
    `cn_digest` (what makes two texts the same), `language` (empty where not known) and one column per item of
    `metadata`, all strings.
    """

    pairs: pd.DataFrame
    metadata: tuple[str, ...]
    hs_metadata: tuple[str, ...]  # describe the text of that side, which takes them from its first row
    cn_metadata: tuple[str, ...]
    n_left_out: int = 0  # rows in another language than was asked for
    notes: tuple[str, ...] = ()  # which texts have several ids


def read_corpus(options: Import, digest_of: Callable[[str], str] = digest) -> Corpus:
    """Read a corpus from a file, or a frame in memory; or the HS from one, and the CN from another, without pairs.

    Only named columns can be chosen. CONAN has the language in the first two letters of `cn_id`. The ids of a side
    become its metadata `hs_id` or `cn_id`. Two texts with the same `digest_of` are the same text.

    Of named columns, metadata whose name starts with `hs` describe the HS, with `cn` the CN, any other both; of two
    tables, all columns describe the texts of their own. Raises InputError: no such file or format, a missing column, a
    broken encoding, empty texts or ids of two texts (all of them, with line numbers), no column of languages to look
    for one in, no row of the language.
    """
    columns = {HS: options.hs_column, CN: options.cn_column}
    ids = {HS: options.hs_id_column, CN: options.cn_id_column}
    reading = Reading(options.sheet_name, options.encoding, options.separator, options.no_header)
    tables = [(options.path, (HS, CN) if options.cn_path is None else (HS,), options.reader, reading)]
    if options.cn_path is not None:
        cn_reading = Reading(options.cn_sheet_name, options.cn_encoding, options.cn_separator, options.cn_no_header)
        tables.append((options.cn_path, (CN,), None, cn_reading))
    unpaired = options.unpaired or options.cn_path is not None
    frames, notes, side_metadata, n_left_out = list[Any](), list[str](), dict[str, tuple[str, ...]](), 0
    reserved = {HS, CN, LINE, "language", "hs_digest", "cn_digest"}
    for table, sides, own_reader, reading in tables:
        format = own_reader or (format_of(table) if not isinstance(table, InMemory) else "csv")
        own_columns = {side: columns[side] for side in sides}
        own_columns |= {"language": options.language_column} if options.language_column else {}
        with choose_reading(reading):
            frame = _read_frame(table, format, own_columns, {side: ids[side] for side in sides})
        n_rows = len(frame)
        if options.only_language:
            frame = _rows_in_language(table, frame, options.only_language, format)
        elif "language" not in frame.columns:
            frame["language"] = ""
        n_left_out += n_rows - len(frame)
        reject(name_of(table), _empty_texts(frame, sides, unpaired=unpaired))
        for side in sides:
            frame[f"{side}_digest"] = [digest_of(text) for text in frame[side]]
        findings, own_notes = _check_ids(frame, [side for side in sides if f"{side}_id" in frame.columns])
        reject(name_of(table), findings)
        notes += own_notes
        for side in sides if unpaired else ():  # rows without a pair are kept once
            frame = _with_all_ids(frame, side)
        metadata = tuple(name for name in frame.columns if name not in reserved)
        for side in sides:
            other = None if options.cn_path is not None else CN if side == HS else HS
            side_metadata[side] = tuple(name for name in metadata if other is None or not name.startswith(other))
        if published := _PUBLISHED.get(format):
            side_metadata = {HS: published.hs_metadata, CN: published.cn_metadata}
        frames.append(frame)
    pairs = frames[0] if len(frames) == 1 else pd.concat(frames).fillna("")
    metadata = tuple(name for name in pairs.columns if name not in reserved)
    pairs = pairs.drop(columns=LINE).reset_index(drop=True)
    return Corpus(pairs, metadata, side_metadata[HS], side_metadata[CN], n_left_out, tuple(notes))


def distinct_texts(pairs: pd.DataFrame, side: str) -> pd.DataFrame:
    """The first row of each text of one side, which has the ids of all its rows."""
    return _with_all_ids(pairs, side).drop_duplicates(f"{side}_digest")


def _with_all_ids(rows: pd.DataFrame, side: str) -> pd.DataFrame:
    """The rows in which a text that is there several times has all its ids: none that a run can name has a space."""
    key = rows[f"{side}_digest"]
    is_repeated = key.duplicated(keep=False) & (rows[side].str.strip() != "")
    if (name := f"{side}_id") not in rows.columns or not is_repeated.any():
        return rows
    by_text = rows[name][is_repeated].groupby(key[is_repeated])
    joined = by_text.agg(lambda ids: " ".join(dict.fromkeys(" ".join(ids).split())))
    return rows.assign(**{name: rows[name].mask(is_repeated, key.map(joined))})


OWN_IDS = ("hs.hs_id", "cn.cn_id")
"""Columns of tables of pairs with the ids that the corpus has of its own."""


def with_own_ids(
    rows: pd.DataFrame,
    texts: pd.DataFrame,
    sides: Sequence[str] = (HS, CN),
    before: Sequence[str] = (),
    numbers: pd.DataFrame | None = None,
    ids: Ids | None = None,
) -> pd.DataFrame:
    """The rows with the corpus's own ids of their `texts` (`text_id`, `meta`), of several with spaces between: a column
    for each of the `sides` that the rows have, and have an id of, in front of that or what is `before`.

    The numbers of the texts are in `hs_id` and `cn_id` of the rows, or of `numbers`. With the ids `study` there are no
    such columns; with `own` it raises InputError where a text has no id.
    """
    meta, rows = texts.set_index("text_id")["meta"], rows.copy()
    for name, column, side in zip(OWN_COLUMNS, before or sides, sides, strict=True):
        text_ids = (rows if numbers is None else numbers)[name]
        own_ids = text_ids.map(meta.map(lambda item, name=name: item.get(name, ""))).fillna("")
        if ids == "own" and column in rows.columns:
            check_own_ids(dict(zip(text_ids.tolist(), own_ids, strict=True)), name.removesuffix("_id"))
        if ids != "study" and column in rows.columns and own_ids.any():
            rows.insert([*rows.columns].index(column), f"{side}.{name}", own_ids.to_numpy())
    return rows


def check_own_ids(id_by_text: Mapping[int, str], side: str) -> None:
    """Raise InputError where one of these texts of a side has no id of its own."""
    if lacking := [text_id for text_id, own_id in id_by_text.items() if not own_id]:
        raise InputError.say(
            "%(number)s of %(all)s %(side)s have no id of their own in the corpus, the first of them %(column)s "
            "%(id)s of the study; import a corpus in which every text has one (`import` says which lines lack it), or "
            "use the study's numbers (`--ids study`)",
            **{"number": len(lacking), "all": len(id_by_text), "side": side.upper()},
            **{"column": f"{side}_id", "id": Id(lacking[0])},
        )


def read_side(path: str | Path, side: str, *, may_be_ids: bool = False) -> pd.DataFrame:
    """Read the texts of one side, one per row, from the column `hs` or `cn`, that of CONAN or Multitarget-CONAN, or the
    only one; returns `hs` or `cn`, and `line`. Raises InputError: no such file or column, an empty text.

    Where it `may_be_ids`, and there is no such column, it returns the column `hs_id` or `cn_id` in place of that.
    """
    header = [name for name in read_table(path, optional=[side]).columns if name != LINE]
    side_columns = [name for name in (side, *_SIDE_COLUMNS[side]) if name in header]
    if may_be_ids and not side_columns and f"{side}_id" in header:
        return read_table(path, [f"{side}_id"])[[f"{side}_id", LINE]]
    column = next(iter(side_columns), header[0] if len(header) == 1 and header[0] not in OWN_COLUMNS else side)
    frame = read_table(path, [column]).rename(columns={column: side})[[side, LINE]]
    empty = frame[LINE][frame[side].str.strip() == ""]
    message = say("the hs text is empty") if side == HS else say("the cn text is empty")
    reject(path, [Finding(place_of(frame), int(line), message) for line in empty])
    return frame


def _read_frame(path: Source, format: str, columns: Mapping[str, str], ids: Mapping[str, str | None]) -> pd.DataFrame:
    if format not in FORMATS:
        raise InputError(f"unknown format `{format}`; expected one of {', '.join(FORMATS)}")
    try:
        if published := _PUBLISHED.get(format):
            renames, language_in = {published.hs: HS, published.cn: CN}, published.language_in
            frame = read_table(path, [*filter(None, [language_in]), *renames], kind=".csv", verbatim=True)
            if language_in:
                frame["language"] = frame[language_in].str[:2].str.lower()
        else:
            if len({columns[side] for side in ids}) < len(ids):
                twice = mark("column `%(column)s` is named for both sides, which need two different columns")
                raise InputError.say(twice, column=columns[HS])
            renames = {column: side for side, column in columns.items()}
            renames |= {column: f"{side}_id" for side, column in ids.items() if column is not None}
            if len(renames) < len(columns) + sum(column is not None for column in ids.values()):
                raise InputError("one column is named for two things; texts and ids must be in separate columns")
            frame = read_table(path, list(renames), optional=["language"], kind=f".{format}", verbatim=True)
            if set(OWN_COLUMNS) <= set(frame.columns):
                frame = read_table(path, list(renames), optional=["language"], kind=f".{format}")
        of_other_side = {name for side in (HS, CN) if side not in ids for name in (side, f"{side}_id")}
        if clash := sorted(({*renames.values(), *of_other_side} - set(renames)) & set(frame.columns)):
            unnamed = mark("%(file)s: column `%(column)s` is not the one named; rename or drop it")
            raise InputError.say(unnamed, file=name_of(path), column=clash[0])
        return frame.rename(columns=renames)
    except InputError as error:
        message = join(filter(None, [error.args[0], _columns_hint(path, format)]), "; ")
        raise InputError(message, error.findings) from None


def _columns_hint(path: Source, format: str) -> str:
    """Hint for a published corpus that was read in another format than its own; empty for other files."""
    try:
        header = set(read_table(path, kind=".csv").columns)
    except InputError:
        return ""
    if {*PUBLISHED_TEXTS} <= header:
        return f"{COLUMNS_OF}a published FC-CONAN partition: `fcpair labels import FILE --reader fc-conan`"
    fits = [name for name, one in _PUBLISHED.items() if {one.hs, one.cn} <= header and name != format]
    return f"{COLUMNS_OF}`--reader {fits[0]}`" if fits else ""


def _empty_texts(frame: pd.DataFrame, sides: Sequence[str], *, unpaired: bool) -> list[Finding]:
    empty = {side: frame[side].str.strip() == "" for side in sides}
    both, place = empty[sides[0]] & empty[sides[-1]], place_of(frame)
    hint = MAY_BE_UNPAIRED.replace("--unpaired", "unpaired=True") if place == FRAME else MAY_BE_UNPAIRED
    return [
        Finding(place, int(line), sentence if unpaired or nothing else join((sentence, hint), "; "))
        for side, sentence in ((HS, say("the hs text is empty")), (CN, say("the cn text is empty")))
        if side in empty
        for line, is_empty, nothing in zip(frame[LINE], empty[side], both, strict=True)
        if is_empty and (nothing or not unpaired)
    ]


def _check_ids(frame: pd.DataFrame, sides: Iterable[str]) -> tuple[list[Finding], list[str]]:
    findings, notes = [], []
    for side in sides:
        rows = frame[[LINE, f"{side}_id", f"{side}_digest"]].set_axis([LINE, "id", "digest"], axis="columns")
        rows["id"] = rows["id"].str.strip()
        rows = rows[frame[side].str.strip() != ""]
        lacking = rows[~rows["digest"].isin(rows["digest"][rows["id"] != ""])].drop_duplicates("digest")
        n, rows = rows["digest"].nunique(), rows[rows["id"] != ""].drop_duplicates(["id", "digest"])
        if len(lacking) and len(rows):
            notes.append(
                f"{side}_id: {len(lacking):,} of {n:,} texts have no id, the first in line {lacking[LINE].iloc[0]}; "
                "files have the study's numbers for all of them by default"
            )
        if len(listed := rows[rows["id"].str.contains(r"\s")]):
            words = rows.assign(id=rows["id"].str.split()).explode("id").drop_duplicates(["id", "digest"])["id"]
            shared = words[words.duplicated()].unique()
            n = len(shared)
            mixed = f"; {n:,} of these ids, such as `{shared[0]}`, are those of several texts" if n else ""
            notes.append(
                f"{side}_id: cells with spaces list several ids ({len(listed):,}), such as `{listed['id'].iloc[0]}` "
                f"(line {listed[LINE].iloc[0]}){mixed}"
            )
        first_lines, again = rows.drop_duplicates("id").set_index("id")[LINE], rows[rows.duplicated("id")]
        for line, id_ in zip(again[LINE].tolist(), again["id"], strict=True):
            another = mark("%(column)s `%(id)s` is the id of another text in line %(line)s")
            message = say(another, column=f"{side}_id", id=id_, line=Id(first_lines[id_]))
            kind = say("%(column)s is the id of two texts", column=f"{side}_id")
            findings.append(Finding(place_of(frame), line, message, kind))
        if not (several := rows[rows["digest"].duplicated(keep=False)]).empty:
            one, other = several[several["digest"] == several["digest"].iloc[0]].iloc[:2].itertuples()
            n = several["digest"].nunique()
            notes.append(
                f"{side}_id: {n:,} {'text has' if n == 1 else 'texts have'} several ids, such as `{one.id}` "
                f"(line {one.line}) and `{other.id}` (line {other.line}); runs may name any of them, tables have all"
            )
    return findings, notes


def _rows_in_language(path: Source, frame: pd.DataFrame, language: str, format: str) -> pd.DataFrame:
    if "language" not in frame.columns:
        name_it = "" if format in _PUBLISHED else "name one by `language_column` (--language-column), or "
        lacking = f"{name_of(path)}: read as {format}, no column says which language a row is in"
        remedy = f"{name_it}omit `only_language` (--only-language)"
        raise InputError(join(filter(None, [lacking, remedy, _columns_hint(path, format)]), "; "))
    if (rows := frame[frame["language"].str.strip().str.lower() == language.strip().lower()]).empty:
        none = mark("%(file)s: no row in language `%(code)s`; found %(codes)s")
        codes = sorted(set(frame["language"]) - {""}) or say("none named")
        raise InputError.say(none, file=name_of(path), code=language, codes=codes)
    return rows.copy()


@dataclass(frozen=True)
class _PublishedFormat:
    hs: str
    cn: str
    hs_metadata: tuple[str, ...]
    cn_metadata: tuple[str, ...]
    language_in: str | None = None  # a column whose first two letters are the language


_PUBLISHED = {
    "conan": _PublishedFormat(
        "hateSpeech",
        "counterSpeech",
        ("hsType", "hsSubType"),
        ("cnType", "age", "gender", "educationLevel", "cn_id"),
        "cn_id",
    ),
    "mt-conan": _PublishedFormat("HATE_SPEECH", "COUNTER_NARRATIVE", ("TARGET",), ("VERSION",)),
}
PUBLISHED_COLUMNS = {name: (one.hs, one.cn) for name, one in _PUBLISHED.items()}
"""Columns of the HS and of the CN, by the format that has them."""
FORMATS = (*_PUBLISHED, "csv", "jsonl", "parquet", "xlsx", "ods")
_SIDE_COLUMNS = {
    HS: tuple(published.hs for published in _PUBLISHED.values()),
    CN: tuple(published.cn for published in _PUBLISHED.values()),
}


def guess_columns(header: Sequence[str], widths: Mapping[str, float] = MappingProxyType({})) -> ColumnsDraft:
    """Guess by its name which column of a table is what, and the layout; else the texts are the two widest columns of
    those whose `widths` are known, or the first.
    """
    for reader, texts in PUBLISHED_COLUMNS.items():
        if set(texts) <= set(header):
            return ColumnsDraft(reader, *texts)  # type: ignore[arg-type]
    hs, cn, hs_id, cn_id = (_find_name(header, names) for names in (_HS_NAMES, _CN_NAMES, _HS_IDS, _CN_IDS))
    rest = [name for name in header if name not in (hs, cn, hs_id, cn_id)]
    widest = sorted(rest, key=lambda name: (_is_id(name), -widths.get(name, 0)))[: (hs, cn).count(None)]
    others = iter(sorted(widest, key=rest.index))
    hs = hs or next(others, header[0])
    return ColumnsDraft(hs=hs, cn=cn or next(others, header[-1]), hs_id=hs_id, cn_id=cn_id)


def guess_side_columns(
    header: Sequence[str], side: str, widths: Mapping[str, float] = MappingProxyType({})
) -> tuple[str, str | None]:
    """Guess, likewise, which column of a table of one side has the texts, and which their ids, if there are any."""
    own_ids, own_names = (_HS_IDS, _HS_NAMES) if side == HS else (_CN_IDS, _CN_NAMES)
    text = _find_name(header, (*own_names, *_HS_NAMES, *_CN_NAMES, "text"))
    text = text or min(header, key=lambda name: (_is_id(name), -widths.get(name, 0)))
    rest = [name for name in header if name != text]
    return text, _find_name(rest, (*own_ids, "id")) or next(filter(_is_id, rest), None)


def _find_name(header: Sequence[str], names: Iterable[str]) -> str | None:
    by_name = {fold_name(column): column for column in reversed(header)}
    return next((by_name[fold_name(name)] for name in names if fold_name(name) in by_name), None)


def _is_id(name: str) -> bool:
    return fold_name(name).split("_")[-1] in ("id", "ids", "pid", "qid", "cid", "docid", "docno", "nr", "index")


CROWDCOUNTER = ("hs_id", "hs", "by", "type", "additional", "types", "cn", "label", "targets", "gpt4")
_ANSWERS = "counterspeech_post"
_IN_ANSWERS = {"type_required": "type", "counterspeech": "cn", "label": "label"}
_IN_SPLITS = {"hatespeech": "hs", "counterspeech": "cn", "required_types": "type"}
_Row = dict[str, Any]


class CrowdCounter(NamedTuple):
    """A file of the release as frames of strings with the same columns, those of `CROWDCOUNTER` that it has, and line:
    `answers` for each counter-narrative, `unanswered` for each HS that nobody answered, with an empty `cn`. Several
    labels of a cell are separated by a comma; `types` holds the required type and the further ones, each once.
    """

    answers: pd.DataFrame
    unanswered: pd.DataFrame


def read_crowdcounter(path: str | Path) -> CrowdCounter:
    """Read a file of CrowdCounter's release: its dataset, that with target groups or GPT-4's types, or a split.

    Saha, P. et al. (2024), arXiv:2410.01400. Three shapes of JSON are known by what is in them: an object of HS by id
    (`Final_Dataset`, also with target groups), one of answers by id of their HS, without the HS (`..._gpt4`), and one
    object a line, an answer and its HS (`Train`, `Val`, `Test`, and those of Gab and Reddit).

    Raises InputError: no file, no JSON of one of the three shapes, and with line numbers a duplicate key, an answer or
    an HS that lacks a field or has one that is not text, an answer without text.
    """
    path = Path(path)
    check_file(path)
    objects = JsonObjects(path)
    is_split = isinstance(objects.first_value, dict) and "hatespeech" in objects.first_value
    rows = list(_split_rows(objects) if is_split else _release_rows(objects))
    broken = [row for row in rows if any(NO_TEXT.search(cell) for cell in row.values() if isinstance(cell, str))]
    reject(path, [*objects.findings, *(Finding(str(path), row[LINE], NO_TEXT_HERE) for row in broken)])
    if not rows:
        raise InputError(f"{path}: the file has no HS")
    return CrowdCounter(*(_cells_frame(path, rows, answered=answered) for answered in (True, False)))


def _cells_frame(path: Path, rows: list[_Row], *, answered: bool) -> pd.DataFrame:
    columns = [name for name in CROWDCOUNTER if any(name in row for row in rows)]
    cells = [{name: row.get(name, "") for name in (*columns, LINE)} for row in rows if ("cn" in row) is answered]
    frame = pd.DataFrame(cells, columns=[*columns, LINE], dtype=object)
    return with_place(frame.astype({LINE: "int64"}), str(path))


def _release_rows(objects: JsonObjects) -> Iterator[_Row]:
    (at,) = objects.values_at(by_line=False)
    for entry in objects.members(at):
        members = {member.key: member for member in objects.members(entry.at)}
        hs_fields: _Row = {"hs_id": entry.key}
        answers = list(members.values())
        if _ANSWERS in members or "post" in members:
            problems = _missing_texts({key: member.value for key, member in members.items()}, ("post",))
            if _ANSWERS not in members:
                problems.append(f"no `{_ANSWERS}`")
            for message in problems:
                objects.add_finding(entry.at, f"HS `{entry.key}`: {message}")
            if problems:
                continue
            hs_fields["hs"] = members["post"].value
            if "targets" in members:
                hs_fields["targets"] = _join_labels(members["targets"].value)
            answers = list(objects.members(members[_ANSWERS].at))
        if not answers:
            yield {**hs_fields, LINE: objects.line_of(entry.at)}
        for answer in answers:
            answer_fields = objects.fields(answer.at)
            problems = _missing_texts(answer_fields, _IN_ANSWERS) if isinstance(answer.value, dict) else []
            for message in problems:
                objects.add_finding(answer.at, f"`{answer.key}`: {message}")
            if answer_fields and not problems:
                row = {**hs_fields, "by": answer.key, **{name: answer_fields[key] for key, name in _IN_ANSWERS.items()}}
                further = answer_fields.get("additional_types", [])
                further = further if isinstance(further, list) else [further]
                row |= {"additional": _join_labels(further), "types": _join_labels([row["type"], *further])}
                gpt4 = {"gpt4": _join_labels(answer_fields["gpt4-types"])} if "gpt4-types" in answer_fields else {}
                yield {**row, **gpt4, LINE: objects.line_of(answer.at)}


def _split_rows(objects: JsonObjects) -> Iterator[_Row]:
    for at in objects.values_at(by_line=True):
        fields = objects.fields(at)
        names = [name for name in _IN_SPLITS if name in fields or name != "required_types"]
        problems = _missing_texts(fields, names)
        for message in problems:
            objects.add_finding(at, message)
        if not problems:
            types = {"types": _join_labels(fields["total_types"])} if "total_types" in fields else {}
            yield {**{_IN_SPLITS[name]: fields[name] for name in names}, **types, LINE: objects.line_of(at)}


def _missing_texts(fields: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    found_names = ", ".join(fields) or "nothing"
    missing = [f"no text `{name}`; found {found_names}" for name in names if not isinstance(fields.get(name), str)]
    empty = [name for name in names if isinstance(fields.get(name), str) and is_blank(fields[name])]
    return missing + [f"`{name}` is empty" for name in empty]


def _join_labels(labels: Any) -> str:
    return ",".join(dict.fromkeys(filter(None, map(as_text, labels if isinstance(labels, list) else [labels]))))
