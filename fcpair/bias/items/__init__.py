"""Templates of questions about two groups, and the items that they are expanded into, without a study or a file.

`template` says what a template is and what can be wrong with one, `expand` makes items.
"""

from fcpair.bias.items.expand import LETTERS, Items, expand, first_versions, n_items, n_templates
from fcpair.bias.items.item_options import coinciding_options
from fcpair.bias.items.template import Blank, Option, Template, Text
from fcpair.bias.items.template_texts import first_filling, review_text

__all__ = [
    "LETTERS",
    "Blank",
    "Items",
    "Option",
    "Template",
    "Text",
    "coinciding_options",
    "expand",
    "first_filling",
    "first_versions",
    "n_items",
    "n_templates",
    "review_text",
]
