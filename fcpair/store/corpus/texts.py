"""Texts and source pairs: the corpus as the study keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import func, select, update

from fcpair.lazy import pd
from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database import checksums
from fcpair.store.database.statements import as_subquery, count, frame, insert_rows
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import side as of_side
from fcpair.store.database.tables import source_pair, text
from fcpair.store.oversight import settings


def add_texts(tx: Tx, kind: str, rows: Iterable[tuple[str, str, str, Mapping[str, str]]]) -> dict[str, int]:
    """Add texts of one kind: digest, body, language (may be empty), metadata. Returns the id of each digest."""
    names = ("kind", "digest", "body", "language", "meta")
    named = (dict(zip(names, (kind, *row), strict=True)) for row in rows)
    insert_rows(tx, text, checksums.with_checksums(tx, text, named))
    return text_ids(tx, kind)


def get_or_add(tx: Tx, kind: str, rows: Sequence[tuple[str, str, str, Mapping[str, str]]]) -> list[int]:
    """The ids of texts of one kind, as `add_texts` takes them, in their order; those that the study lacks are added."""
    existing = text_ids(tx, kind)
    ids = add_texts(tx, kind, [row for row in rows if row[0] not in existing])
    return [ids[row[0]] for row in rows]


def update_texts(tx: Tx, kind: str, axis: str, rows: Iterable[tuple[str, str, str, Mapping[str, str]]]) -> int:
    """Let texts be as these rows of a side say, but those of other sides; returns how many of these would differ."""
    new_values = {row[0]: row[1:] for row in rows}
    is_other_side = (of_side.c.grid_id != current_grid_id(tx)) | (of_side.c.axis != axis)
    ids_of_other_sides = set(tx.scalars(select(of_side.c.text_id).where(is_other_side)))
    n_others = 0
    for stored in tx.execute(select(text).where(text.c.kind == kind).order_by(text.c.id)).all():
        body, language, meta = new_values.get(stored.digest, (stored.body, stored.language, stored.meta))
        if stored.id in ids_of_other_sides:
            n_others += (stored.language, stored.meta) != (language, meta)
        elif (stored.body, stored.language, stored.meta) != (body, language, meta):
            changed = {"body": body, "language": language, "meta": dict(meta)}
            checksum = checksums.checksum_of(text, {**stored._mapping, **changed})
            tx.execute(update(text).where(text.c.id == stored.id).values(**changed, checksum=checksum))
    return n_others


def text_ids(tx: Tx, kind: str) -> dict[str, int]:
    """The id of every text of one kind, by digest."""
    rows = tx.execute(select(text.c.digest, text.c.id).where(text.c.kind == kind).order_by(text.c.id))
    return {row.digest: row.id for row in rows}


def add_source_pairs(tx: Tx, rows: Iterable[tuple[int, int, Mapping[str, str]]]) -> None:
    """Add the corpus rows in their order: HS id, CN id, metadata."""
    names = ("row", "hs_id", "cn_id", "meta")
    insert_rows(tx, source_pair, (dict(zip(names, (at, *row), strict=True)) for at, row in enumerate(rows, 1)))


def texts_of(tx: Tx, kind: str) -> pd.DataFrame:
    """All texts of one kind in corpus order: `id`, `body`, `language`, `meta`, `digest`."""
    columns = text.c["id", "body", "language", "meta", "digest"]
    return frame(tx, select(*columns).where(text.c.kind == kind).order_by(text.c.id))


def bodies(tx: Tx, kinds: Iterable[str]) -> dict[int, str]:
    """The texts of some kinds, which can be one and the same, by their ids."""
    rows = tx.execute(select(text.c.id, text.c.body).where(text.c.kind.in_(kinds)).order_by(text.c.id))
    return {row.id: row.body for row in rows}


def by_id(tx: Tx, ids: Iterable[int]) -> pd.DataFrame:
    """Those texts that have one of these ids, by it: `body`, `digest`, `language`, `meta`."""
    query = select(*text.c["id", "body", "digest", "language", "meta"])
    return frame(tx, query.where(text.c.id.in_(as_subquery(sorted(set(map(int, ids))))))).set_index("id")


def source_copies(tx: Tx) -> pd.DataFrame:
    """The CNs of the corpus in order: `cn_id`, `body`, `n_rows` (how many rows hold it; 1 for one without a pair)."""
    query = select(text.c.id.label("cn_id"), text.c.body, func.count().label("n_rows"))
    query = query.outerjoin(source_pair, source_pair.c.cn_id == text.c.id).where(text.c.kind == "cn")
    return frame(tx, query.group_by(*text.c["id", "body"]).order_by(text.c.id))


def source_rows(tx: Tx) -> pd.DataFrame:
    """The rows of the corpus in order: `hs_id`, `cn_id`, `hs`, `cn` (as first spelled), `language` (the CN's), `meta`
    (the row's); then texts without a pair, with no id and an empty text on the other side.
    """
    hs, cn = text.alias("hs_text"), text.alias("cn_text")
    bodies = (hs.c.body.label("hs"), cn.c.body.label("cn"), cn.c.language)
    query = select(*source_pair.c["hs_id", "cn_id"], *bodies, source_pair.c.meta)
    query = query.join(hs, hs.c.id == source_pair.c.hs_id).join(cn, cn.c.id == source_pair.c.cn_id)
    rows = frame(tx, query.order_by(source_pair.c.row))
    if not has_unpaired(tx):
        return rows

    unpaired = frame(tx, _UNPAIRED)
    for side in ("hs", "cn"):
        is_of_side = unpaired["kind"] == side
        unpaired[side] = unpaired["body"].where(is_of_side, "")
        unpaired[f"{side}_id"] = unpaired["id"].where(is_of_side).astype("Int64")
        rows[f"{side}_id"] = rows[f"{side}_id"].astype("Int64")
    return pd.concat([rows, unpaired[rows.columns]], ignore_index=True) if len(rows) else unpaired[rows.columns]


def metadata(tx: Tx, kind: str) -> list[tuple[int, dict[str, str]]]:
    """The id of each text of one kind with its metadata; then, of the corpus, those of each row that has it."""
    queries = [select(text.c.id, text.c.meta).where(text.c.kind == kind).order_by(text.c.id)]
    if kind in ("hs", "cn"):
        queries.append(select(source_pair.c[f"{kind}_id"], source_pair.c.meta).order_by(source_pair.c.row))
    return [(text_id, meta) for query in queries for text_id, meta in tx.execute(query)]


def has_unpaired(tx: Tx) -> bool:
    """Return whether the corpus was imported with texts that have no pair; those that came with labels do not count."""
    importing = settings.of_stage(tx, "import")
    return bool(importing.get("unpaired") or importing.get("cn_path"))


def n_unpaired(tx: Tx) -> int:
    """Count the texts of the corpus that have no pair."""
    return count(tx, _UNPAIRED.subquery()) if has_unpaired(tx) else 0


_is_paired = text.c.id.in_(select(source_pair.c.hs_id).union_all(select(source_pair.c.cn_id)))
_UNPAIRED = select(*text.c["id", "kind", "body", "language", "meta"]).where(~_is_paired).order_by(text.c.id)
