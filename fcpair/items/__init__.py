"""Templates of questions about two groups, and the items that they are expanded into."""

from fcpair.items.expand import LETTERS, Items, expand, first_versions, n_items, n_templates
from fcpair.items.options import coinciding
from fcpair.items.shown import as_text, filled_once
from fcpair.items.template import Blank, Option, Template, Text

__all__ = [
    "LETTERS",
    "Blank",
    "Items",
    "Option",
    "Template",
    "Text",
    "as_text",
    "coinciding",
    "expand",
    "filled_once",
    "first_versions",
    "n_items",
    "n_templates",
]
