"""Templates of questions about two groups, and the items that they are expanded into."""

from fcpair.bias.items.expand import LETTERS, Items, expand, first_versions, n_items, n_templates
from fcpair.bias.items.item_options import coinciding
from fcpair.bias.items.template import Blank, Option, Template, Text
from fcpair.bias.items.template_texts import as_text, filled_once

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
