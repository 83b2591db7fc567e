"""The requests and objects of the JSON API, from docs/openapi.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from generated import GeneratedDirective
from markdown_tables import cell, table
from sphinx.application import Sphinx

OPENAPI = Path(__file__).parents[1] / "openapi.json"
Schema = Mapping[str, Any]


class HttpApi(GeneratedDirective):
    """All requests, and below them the objects that they take and give."""

    def make(self, argument: str) -> str:
        """A heading, its parameters, body and answers for each request; a table for each object."""
        self.env.note_dependency(str(OPENAPI))
        api = json.loads(OPENAPI.read_text("utf-8"))
        return "\n".join([*requests(api["paths"]), *objects(api["components"]["schemas"])])


def requests(paths: Mapping[str, Mapping[str, Schema]]) -> Iterator[str]:
    """Markdown of each request."""
    yield "## All requests\n"
    for path, operations in paths.items():
        for method, operation in operations.items():
            yield f"### `{method.upper()} {path}`\n"
            yield f"{operation['summary']}. {operation.get('description', '')}\n"
            if body := operation.get("requestBody"):
                yield f"Body: {type_of(body['content']['application/json']['schema'])}\n"
            if parameters := operation.get("parameters"):
                rows = ((f"`{one['name']}`", one["in"], type_of(one["schema"]), about(one)) for one in parameters)
                yield table(("parameter", "in", "type", "meaning"), rows)
            yield table(("status", "answer", "when"), answers(operation["responses"]))


def answers(responses: Mapping[str, Schema]) -> Iterator[tuple[str, str, str]]:
    """Of each answer its status, its object, and when it comes."""
    for status, response in responses.items():
        content = response.get("content", {}).get("application/json")
        yield status, type_of(content["schema"]) if content else "", cell(response["description"])


def objects(schemas: Mapping[str, Schema]) -> Iterator[str]:
    """Markdown of each object."""
    yield "## All objects\n"
    for name, schema in schemas.items():
        yield f"(api-{name.lower()})=\n### {name}\n"
        if "description" in schema:
            yield schema["description"] + "\n"
        if properties := schema.get("properties"):
            needed = schema.get("required", ())
            yield table(
                ("key", "type", "", "meaning"),
                (
                    (f"`{key}`", type_of(item), "required" if key in needed else "", about(item))
                    for key, item in properties.items()
                ),
            )
        else:
            yield type_of(schema) + "\n"


def about(schema: Schema) -> str:
    """What is said of a parameter or a key, with its default."""
    default = schema.get("default", schema.get("schema", {}).get("default"))
    return cell(schema.get("description", "") + ("" if default is None else f" Default: `{json.dumps(default)}`."))


def type_of(schema: Schema) -> str:
    """A type in words, with a link where it is an object."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#api-{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_of(part) for part in schema["anyOf"]))
    if values := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return cell(" or ".join(f"`{json.dumps(value)}`" for value in values))
    return container_type(schema) or str(schema.get("type", "anything"))


def container_type(schema: Schema) -> str:
    """The type of a list or an object with what it holds; empty for other types, and where that is not said."""
    if "items" in schema:
        return f"list of {type_of(schema['items'])}"
    values = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    return f"object of {type_of(values)}" if isinstance(values, dict) else ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("http-api", HttpApi)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
