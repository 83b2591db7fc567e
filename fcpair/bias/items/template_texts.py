"""Templates as texts: filled once, to be measured, and with their slots, to be reviewed."""

from __future__ import annotations

from collections.abc import Mapping

from fcpair.bias.items.template import Blank, Template, Text


def first_filling(template: Template) -> str:
    """A template with its first fillers: the disambiguated context, and both questions."""
    names = ("ambiguous", "disambiguating", "negative", "non_negative")
    return " ".join(" ".join(_first_forms(template.texts[name]) for name in names).split())


def _first_forms(text: Text) -> str:
    return "".join(part.forms[0] if isinstance(part, Blank) else part for part in text)


def review_text(template: Template) -> str:
    """A template as its reviewers read it: its texts with slots in braces, and below them what is put there."""
    texts = template.all_texts
    lines = {
        "Context": texts["ambiguous"],
        "Then": texts["disambiguating"],
        "Question": texts["negative"],
        "Other question": texts["non_negative"],
    }
    paragraphs = [f"Statement: {template.statement}"] if template.statement else []
    paragraphs += [f"{name}: {_with_slots(text, template.fillers)}" for name, text in lines.items()]
    options = [_with_slots(one.text, template.fillers) for one in (template.culprit, template.other)]
    paragraphs.append(f"Options: {' / '.join((*options, template.unknown[0]))}")
    paragraphs.append(f"Stereotyped: {', '.join(template.stereotyped)}")
    slots = [f"{{{slot}}}: {', '.join(of)}" for slot, of in template.fillers.items() if len(of) > 1]
    return "\n".join([*paragraphs, *slots])


def _with_slots(text: Text, fillers: Mapping[str, tuple[str, ...]]) -> str:
    return " ".join("".join(_show_part(part, fillers) for part in text).split())


def _show_part(part: str | Blank, fillers: Mapping[str, tuple[str, ...]]) -> str:
    """A slot in braces; one of a single filler as that, since it cannot be read otherwise."""
    if isinstance(part, str):
        return part
    return part.forms[0] if len(fillers[part.slot]) == 1 else f"{{{part.slot}}}"
