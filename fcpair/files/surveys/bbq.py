"""Answers to BBQ's questions, and the templates of BBQ and of KoBBQ.

The answers are BBQ's JSON Lines with a column of what a model said, as UnifiedQA's were released: Parrish, A. et al.
(2022), BBQ: A hand-built bias benchmark for question answering, DOI 10.18653/v1/2022.findings-acl.165.

BBQ's templates are a CSV, with slots as `{{NAME1}}` and fillers in lists. BBQ draws one word of lexical diversity for
each filling of the names; here every word makes items of its own. As in its items an `a` before a slot is `an` where
the filler begins with a vowel; an `A` is not, there as here.

KoBBQ's are separated by tabs, with every slot and all its forms where it stands, as Korean particles need: Jin, J. et
al. (2024), KoBBQ: Korean bias benchmark for question answering, DOI 10.1162/tacl_a_00661.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from fcpair.arrays import Bools, Ints
from fcpair.bias import answers
from fcpair.bias.items import TEXTS, Blank, Option, Template, Text, template_faults
from fcpair.errors import Finding, InputError, list_first, reject, suggest_name, translate_read_errors
from fcpair.files.tables.tabular import LINE, check_file, read_table
from fcpair.lazy import pd
from fcpair.values import parse_json

OPTIONS = ("ans0", "ans1", "ans2")
_UNKNOWN, _FIELD_SEPARATOR, _GROUP_SEPARATOR = "unknown", "\x1f", "\x1e"
_SPELLINGS = (  # what is read as what, in this order, after spaces are single and letters small
    (r"\}", ""),
    (r"\.$", ""),
    (r"pantsu$", "pantsuit"),
    (r"o'brien", "obrien"),
)
_FIELDS = {
    **{name: pa.string() for name in ("category", "question_index", "question_polarity", "context_condition")},
    "answer_info": pa.struct([(name, pa.list_(pa.string())) for name in OPTIONS]),
    "additional_metadata": pa.struct([("stereotyped_groups", pa.list_(pa.string()))]),
    **{name: pa.string() for name in OPTIONS},
    "label": pa.int64(),
}

Stereotyped = Mapping[tuple[str, str], Sequence[str]]  # groups by `key_of` a template, in the place of what files say
SHOWN = 5


def key_of(category: str, number: str) -> tuple[str, str]:
    """Key that tells templates apart."""
    return answers.key_of_category(category), number


def read_bbq(
    paths: Sequence[str | Path], answer: str, stereotyped: Stereotyped | None = None, *, strict_targets: bool = False
) -> answers.Answers:
    """Read answers to BBQ's questions, by the rules of BBQ's own scripts.

    An answer is read as an option if it is its text but for capitals, spaces, a full stop at the end and the spellings
    that the scripts mend; else as the first option that `find_option` finds in it. Anything else is
    unreadable. The target is the first option that `is_target` finds. As in the printed figures, items with
    two targets and with none are kept: of two the first counts, and without one any group is the biased answer to a
    question that is not negative. Items about people who have names are a category of their own.

    The files are JSON Lines, compressed where the name ends in `.gz`. Where the name of the `answer` ends in `qonly`
    the question was asked without its context, and only items with an ambiguous one count. `stereotyped` has groups in
    the place of those in the files. With `strict_targets`, items with two targets and with none are left out, as BBQ's
    released script does. Raises InputError, with line numbers, for what lacks a field or means nothing, and where no
    item has a target.
    """
    table = pa.concat_tables([_read_table(Path(path), answer) for path in paths])
    n_asked = len(table)
    if answer.endswith("qonly"):
        table = table.filter(pc.equal(table["context_condition"], "ambig"))
    n_without_context = n_asked - len(table)
    targets = _are_targets(table, stereotyped) & ~_is_unknown(table)
    n_targets = targets.sum(axis=1)
    names = zip(table["category"].to_pylist(), table["question_index"].to_pylist(), strict=True)
    templates = np.array([f"{category} {number}" for category, number in names], dtype=object)
    without, two = (dict(Counter(templates[rows].tolist())) for rows in (n_targets == 0, n_targets > 1))
    if sum(without.values()) == len(table):
        raise InputError(
            f"none of {len(table):,} items has an option of its stereotyped group, as those of template "
            f"{next(iter(without), '')}; with `--templates` the groups are those of BBQ's templates"
        )
    rows = (n_targets == 1) | (not strict_targets)
    first_target = np.asarray(targets & (targets.cumsum(axis=1) == 1))
    table = table.filter(pa.array(rows))
    chosen = _chosen_options(table, answer)
    numbers = table["question_index"].to_pylist()
    category_names = [
        answers.reported_category(*row) for row in zip(table["category"].to_pylist(), numbers, strict=True)
    ]
    category, categories = pd.factorize(np.array(category_names, dtype=object))
    template, _ = pd.factorize(np.array(numbers, dtype=object))
    answered = answers.AnsweredItems(
        template=template,
        category=category,
        ambiguous=pc.equal(table["context_condition"], "ambig").to_numpy(),
        negative=pc.equal(table["question_polarity"], "neg").to_numpy(),
        right=table["label"].to_numpy(),
        chosen=chosen,
        unknown=_is_unknown(table),
        stereotyped=first_target[rows],
        untargeted_count=True,
    )
    unread = table[answer].filter(pa.array(chosen == answers.UNREADABLE)).to_pylist()
    return answers.Answers(
        answered, tuple(categories), tuple(unread), (), without, two, strict_targets, n_without_context
    )


def _read_table(path: Path, answer: str) -> pa.Table:
    check_file(path)
    schema = pa.schema([*_FIELDS.items(), (answer, pa.string())])
    options = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    with translate_read_errors(path):
        try:
            with _open(path) as file:
                table = pyarrow.json.read_json(file, parse_options=options)
        except pa.ArrowInvalid:
            findings = []
            for number, line in _filled_lines(path):
                try:
                    parse_json(line)
                except (ValueError, RecursionError) as error:
                    findings.append(Finding(str(path), number, str(error)))
            reject(path, findings)
            raise
        if table[answer].null_count == len(table):
            names = list(parse_json(next(line for _, line in _filled_lines(path))))
            raise InputError(f"{path}: nothing has a field `{answer}`; {suggest_name(answer, names)}")
        wrong: dict[str, Bools] = {}
        for name in (*_FIELDS, answer):
            column = table[name]
            n_fields = column.type.num_fields if pa.types.is_struct(column.type) else 0
            parts = [column, *(pc.struct_field(column, at) for at in range(n_fields))]
            is_null = np.logical_or.reduce([part.is_null().to_numpy() for part in parts])
            wrong[f"no `{name}`, or not what it must be"] = is_null
        for name, values in {"question_polarity": answers.POLARITIES, "context_condition": answers.CONTEXTS}.items():
            is_known = pc.is_in(table[name], pa.array(list(values)))
            wrong[f"`{name}` is not one of {', '.join(values)}"] = ~is_known.to_numpy()
        label = pc.fill_null(table["label"], 0).to_numpy()
        wrong[f"`label` is not one of 0 to {len(OPTIONS) - 1}"] = (label < 0) | (label >= len(OPTIONS))
        texts = _folded_codes(table, OPTIONS)
        coincide = [texts[a] == texts[b] for a in range(len(OPTIONS)) for b in range(a)]
        wrong["options coincide"] = np.logical_or.reduce(coincide)
        wrong["expected one option that says `unknown` in `answer_info`"] = _is_unknown(table).sum(axis=1) != 1
        if any(rows.any() for rows in wrong.values()):
            lines = [number for number, _ in _filled_lines(path)]
            problems = [(lines[row], what) for what, rows in wrong.items() for row in np.flatnonzero(rows)]
            reject(path, [Finding(str(path), line, what) for line, what in sorted(problems)])
    return table


def _open(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


def _filled_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with _open(path) as file:
        yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())


def _folded_codes(table: pa.Table, names: Sequence[str]) -> list[Ints]:
    """A number for each text of columns, the same for texts that `_normalise_texts` makes the same."""
    numbers, texts = _encode_texts([table[name] for name in names])
    codes = _normalise_texts(texts).dictionary_encode().indices.to_numpy()
    return [np.asarray(codes[text_numbers]) for text_numbers in numbers]


def _normalise_texts(texts: pa.Array) -> pa.Array:
    normalised = pc.replace_substring_regex(pc.utf8_lower(pc.fill_null(texts, "")), r"\s+", " ")
    normalised = pc.utf8_trim_whitespace(normalised)
    for spelling, read_as in _SPELLINGS:
        normalised = pc.replace_substring_regex(normalised, spelling, read_as)
    return pc.utf8_trim_whitespace(normalised)


def _encode_texts(columns: Sequence[pa.ChunkedArray]) -> tuple[list[Ints], pa.Array]:
    """The different texts of columns, and of each column the number of each of its texts, `(n,)`."""
    chunks = pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)
    encoded = pc.dictionary_encode(chunks, null_encoding="encode").combine_chunks()
    numbers = encoded.indices.to_numpy().astype(np.int64)
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1]), encoded.dictionary


def _tags(table: pa.Table) -> list[pa.ChunkedArray]:
    fields = [pc.struct_field(table["answer_info"], at) for at in range(len(OPTIONS))]
    return [pc.utf8_lower(pc.fill_null(pc.binary_join(field, _FIELD_SEPARATOR), "")) for field in fields]


def _is_unknown(table: pa.Table) -> Bools:
    numbers, tags = _encode_texts(_tags(table))
    is_unknown = pc.ends_with(tags, f"{_FIELD_SEPARATOR}{_UNKNOWN}").to_numpy(zero_copy_only=False)
    return np.stack([is_unknown[text_numbers] for text_numbers in numbers], axis=1)


def _chosen_options(table: pa.Table, answer: str) -> Ints:
    *options, reply_codes = _folded_codes(table, (*OPTIONS, answer))
    chosen = np.full(len(table), answers.UNREADABLE)
    for at, texts in enumerate(options):
        chosen[reply_codes == texts] = at
    rows = np.flatnonzero(chosen == answers.UNREADABLE)
    unread_rows = table.take(pa.array(rows))
    replies = _normalise_texts(unread_rows[answer].combine_chunks()).to_pylist()
    tags_by_row = zip(*(column.to_pylist() for column in _tags(unread_rows)), strict=True)
    for row, reply, tags in zip(rows.tolist(), replies, tags_by_row, strict=True):
        option = answers.find_option(reply, [tag.split(_FIELD_SEPARATOR)[0] for tag in tags])
        chosen[row] = answers.UNREADABLE if option is None else option
    return chosen


def _are_targets(table: pa.Table, stereotyped: Stereotyped | None) -> Bools:
    """Return whether an option is of the stereotyped group, `(n, n_options)`; looked up once for each kind."""
    if stereotyped is None:
        groups = pc.binary_join(pc.struct_field(table["additional_metadata"], 0), _FIELD_SEPARATOR)
    else:
        categories, numbers = (table[name].to_pandas() for name in ("category", "question_index"))
        template, templates = pd.factorize(pd.MultiIndex.from_arrays([categories, numbers]))
        if missing := [
            f"{template[0]} {template[1]}" for template in templates if key_of(*template) not in stereotyped
        ]:
            raise InputError(f"the templates that were given lack {list_first(missing, SHOWN)}")
        joined = pa.array([_FIELD_SEPARATOR.join(stereotyped[key_of(*template)]) for template in templates])
        groups = pa.chunked_array([joined.take(pa.array(template))])
    (group,), group_texts = _encode_texts([pc.binary_join_element_wise(table["category"], groups, _GROUP_SEPARATOR)])
    numbers, tag_texts = _encode_texts(_tags(table))
    group_keys = []
    for category, _, listed in (text.partition(_GROUP_SEPARATOR) for text in group_texts.to_pylist()):
        key = answers.key_of_category(category)
        group_keys.append((key, answers.group_of(key, listed.split(_FIELD_SEPARATOR))))
    tags = [(tag.split(_FIELD_SEPARATOR)[0], tag.split(_FIELD_SEPARATOR)[-1]) for tag in tag_texts.to_pylist()]
    kinds, kind = np.unique(np.stack(numbers) * len(group_keys) + group, return_inverse=True)
    is_match = [
        answers.is_target(*group_keys[kind % len(group_keys)], *tags[kind // len(group_keys)])
        for kind in kinds.tolist()
    ]
    return np.asarray(np.array(is_match, bool)[kind.reshape(len(OPTIONS), -1)].T)


UNKNOWN = (  # as BBQ's items have them
    *("Unknown", "Cannot be determined", "Can't be determined", "Not enough info", "Not enough information"),
    *("Not answerable", "Not known", "Undetermined", "Cannot answer", "Can't answer"),
)


class _Layout(NamedTuple):
    """The columns of a release: of each text, of the culprit and the other, and of the group of each slot."""

    texts: Mapping[str, str]
    options: tuple[str, str]
    groups: Mapping[str, str]

    @property
    def text_columns(self) -> list[str]:
        return [*self.texts.values(), *self.options]


_QUESTIONS = ("Question_negative_stereotype", "Question_non_negative")
_BBQ = _Layout(
    dict(zip(TEXTS, ("Ambiguous_Context", "Disambiguating_Context", *_QUESTIONS), strict=True)),
    ("Answer_negative", "Answer_non_negative"),
    {"NAME1": "NAME1_info", "NAME2": "NAME2_info"},
)
_KO_TEXTS = ("Ambiguous_context", "Disambiguating_context", "Biased_question", "Counter-biased_question")
_KOBBQ = _Layout(
    dict(zip(TEXTS, _KO_TEXTS, strict=True)),
    ("Biased_question_answer", "Counter-biased_question_answer"),
    {"N1": "N1_info", "N2": "N2_info"},
)
_DECLARED = ("Names", "Lexical_diversity")
_STEREOTYPED = "Known_stereotyped_groups"
_KEY = ("Category", "Q_id")
COLUMNS = (*_KEY, _STEREOTYPED, *_BBQ.text_columns)
NAMES = ("version", *_DECLARED, *_BBQ.groups.values())
# Letters are tried once, from their beginning, and a list ends before another begins: long cells take no longer.
_DECLARATION = re.compile(r"(?<![A-Z])([A-Z]++\d)\W*:\s*+\[([^\[\]]*+)\]")
_ARTICLE, _VOWELS = re.compile(r"(?<=\s)a\s+$"), tuple("aeiou")
_BLANK = re.compile(r"\{\{([A-Z]+\d)\}\}")
KOBBQ_COLUMNS = (
    *("Category", "ID", "version", "Target_group"),
    *_KOBBQ.text_columns,
    *_DECLARED,
    *_KOBBQ.groups.values(),
)
# What is within brackets ends before others begin, and spaces are not tried again: a long cell takes no longer.
_KOBBQ_DECLARATION = re.compile(r"([A-Z]\d)\s*+:\s*+\[([^\[\]]*+)\]")
_KOBBQ_BLANK = re.compile(r"\[([A-Z]\d)\s*+:\s*+([^\[\]]*+)\]")
_TRIMMED = " \t\b"  # a text or a form; the release has backspaces before some, which its test samples lack

Row = dict[str, str]


def read_bbq_templates(path: Path) -> tuple[list[Template], list[str]]:
    """Read BBQ's templates; no remarks. Raises InputError: no such file or columns, names that are to come of BBQ's
    vocabulary, which is another file, and all that `template_faults` finds, with line numbers.
    """
    if "Names" not in (rows := _read_rows(path, COLUMNS))[0]:
        raise InputError(
            f"{path}: no column `Names`; the names of these templates are in BBQ's vocabulary, so that they cannot be "
            "expanded"
        )
    return _check_templates(path, [*map(_parse_bbq, rows)]), []


def read_kobbq(path: Path) -> tuple[list[Template], list[str]]:
    """Read KoBBQ's templates, and raise as `read_bbq_templates` does. Of more forms than a slot has fillers the last
    are left out, with a remark.
    """
    rows, remarks = _read_rows(path, KOBBQ_COLUMNS), []
    templates = [_parse_kobbq(row) for row in rows]
    for row, template in zip(rows, templates, strict=True):
        for column in _KOBBQ.text_columns:
            for slot, forms_text in _KOBBQ_BLANK.findall(row[column]):
                forms, n = _split_forms(forms_text), len(template.fillers.get(slot, ()))
                if len(forms) > n > 0:
                    cut = f"{slot} has {len(forms)} forms for {n} fillers; used without {', '.join(forms[n:])}"
                    remarks.append(f"{path}:{row[LINE]}: {column}: {cut}")
    return _check_templates(path, templates), remarks


def _read_rows(path: Path, columns: Sequence[str]) -> list[Row]:
    rows: list[Row] = read_table(path, columns, optional=NAMES, verbatim=True).to_dict("records")  # type: ignore[assignment]
    return rows


def _check_templates(path: Path, templates: list[Template]) -> list[Template]:
    reject(
        path, [Finding(str(path), template.line, why) for template in templates for why in template_faults(template)]
    )
    return templates


def read_stereotyped(path: Path) -> Stereotyped:
    """The stereotyped groups of templates by their `key_of`, for `read_bbq`; rows without a number are no templates.

    Versions of a template may spell the same group otherwise, as `transgender men` and `Transgender women`. Raises
    InputError: no such file or columns, no groups, or not the same in all versions.
    """
    groups_by_template: dict[tuple[str, str], list[str]] = {}
    findings = []
    for row in _read_rows(path, (*_KEY, _STEREOTYPED)):
        if not (key := key_of(row["Category"], row["Q_id"].strip()))[1]:
            continue
        groups = _parse_groups(row)
        first_groups = groups_by_template.setdefault(key, groups)
        if not groups:
            findings.append(Finding(str(path), int(row[LINE]), f'`{_STEREOTYPED}` names no group, such as ["old"]'))
        elif answers.group_of(key[0], first_groups) != answers.group_of(key[0], groups):
            message = f"other stereotyped groups than before for template {key[1]}"
            findings.append(Finding(str(path), int(row[LINE]), message))
    reject(path, findings)
    return groups_by_template


def _parse_groups(row: Row) -> list[str]:
    return [name for part in row[_STEREOTYPED].strip().strip("[]").split(",") if (name := part.strip(" \t\r\n\"'"))]


def _parse_bbq(row: Row) -> Template:
    cells = [cell for column in _DECLARED if (cell := row.get(column, ""))]
    # One of BBQ's fillers has a semicolon for a comma, and its items what stands before that.
    declared = {
        name: tuple(part.strip() for part in re.split("[,;]", names))
        for cell in cells
        for name, names in _DECLARATION.findall(cell)
    }
    used = {slot for column in _BBQ.text_columns for slot in _BLANK.findall(row[column])}
    fillers = {name: names for name, names in declared.items() if name in used}

    def parse_text(cell: str) -> Text:
        parts: list[str | Blank] = []
        before, *rest = _BLANK.split(cell)  # text, slot, text, ...
        for slot, after in zip(rest[::2], rest[1::2], strict=True):
            forms = fillers.get(slot, ())
            if article := _ARTICLE.search(before):
                before = before[: article.start()]
                forms = tuple(f"{'an' if form[:1] in _VOWELS else 'a'} {form}" for form in forms)
            parts += [before, Blank(slot, forms)]
            before = after
        return (*parts, before)

    fields = {"fillers": fillers, "unknown": UNKNOWN, "stereotyped": tuple(_parse_groups(row))}
    return _build_template(row, _BBQ, parse_text, row["Category"].strip(), row["Q_id"], **fields)


def _parse_kobbq(row: Row) -> Template:
    fillers = {
        name: _split_forms(listed) for column in _DECLARED for name, listed in _KOBBQ_DECLARATION.findall(row[column])
    }

    def parse_text(cell: str) -> Text:
        first, *rest = _KOBBQ_BLANK.split(cell.strip(_TRIMMED))  # text, slot, forms, text, ...
        parts: list[str | Blank] = [first]
        for slot, forms, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            parts += [Blank(slot, _split_forms(forms)[: len(fillers.get(slot, ())) or None]), after]
        return tuple(parts)

    fields = {"fillers": fillers, "unknown": ("알 수 없음",), "stereotyped": (row["Target_group"],)}
    return _build_template(row, _KOBBQ, parse_text, row["Category"], row["ID"], **fields)


def _split_forms(text: str) -> tuple[str, ...]:
    return tuple(part.strip(_TRIMMED) for part in text.split(","))


def _build_template(
    row: Row, layout: _Layout, parse_text: Callable[[str], Text], category: str, number: str, **fields: Any
) -> Template:
    fields |= {"id": f"{category.lower()}-{number}", "category": category, "version": row.get("version", "")}
    texts, options = {name: parse_text(row[column]) for name, column in layout.texts.items()}, []
    for column in layout.options:
        text = parse_text(row[column])
        slots = [part.slot for part in text if isinstance(part, Blank)]
        options.append(Option(text, tuple(row[layout.groups[slot]] for slot in slots if slot in layout.groups)))
    return Template(texts=texts, culprit=options[0], other=options[1], line=int(row[LINE]), **fields)
