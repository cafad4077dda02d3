"""The page ``/docs``: the OpenAPI document as HTML, without scripts and without requests to other machines."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --text: #111; --page: #fff; --link: #0b57c2; }
@media (prefers-color-scheme: dark) { :root { --text: #eee; --page: #121212; --link: #8ab4f8; } }
html { background: var(--page); color: var(--text); }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { margin-bottom: 0; }
h2 { margin: 2rem 0 .25rem; }
a { color: var(--link); }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: 4px; }
details { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; }
summary b { display: inline-block; min-width: 4rem; }
details > div { padding: 0 .75rem .75rem; border-top: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem .25rem 0; border-bottom: 1px solid var(--line); }
td:first-child { min-width: 9.5rem; }
@media (max-width: 40rem) { table, tbody, tr, td { display: block; } th { display: none; } td { border: 0; padding: 0; }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0; display: block; } }
"""
POLICY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of the page: only its own style."""


def page(document: Mapping[str, Any]) -> str:
    """Render an OpenAPI document of :func:`plansafe.app.interfaces.http.openapi.document`."""
    info = document["info"]
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(info['title'])} HTTP API</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n",
            f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>\n<p>{escape(info['description'])} ",
            'For client generators: <a href="openapi.json">openapi.json</a>.</p>\n',
            *_access(document),
            *[part for tag in document["tags"] for part in _tag(tag, document)],
            "<h2>Schemas</h2>\n",
            *[_schema(name, schema) for name, schema in document["components"]["schemas"].items()],
            "</main>\n</body>\n</html>\n",
        ]
    )


def _access(document: Mapping[str, Any]) -> Iterator[str]:
    if "security" in document:
        yield (
            "<p>Requests need the API key: <code>Authorization: Bearer KEY</code> or <code>X-API-Key: KEY</code>.</p>\n"
        )


def _tag(tag: Mapping[str, str], document: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2>{escape(tag['name'].capitalize())}</h2>\n<p>{escape(tag['description'])}</p>\n"
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if tag["name"] in operation["tags"]:
                yield from _operation(method.upper(), path, operation)


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    summary = f"<b>{method}</b> <code>{escape(path)}</code> {escape(operation['summary'])}"
    about = escape(operation.get("description", operation["summary"]))
    yield f'<details id="{escape(operation["operationId"])}">\n<summary>{summary}</summary>\n<div>\n<p>{about}</p>\n'
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    rows = [_row(p["name"], p["schema"], p["required"], f" ({p['in']})") for p in operation.get("parameters", ())]
    required = body.get("required", ())
    rows += [_row(name, schema, name in required) for name, schema in body.get("properties", {}).items()]
    if rows:
        yield f"<table>\n<tr><th>Field</th><th>Type</th><th>Meaning</th></tr>\n{''.join(rows)}</table>\n"
    command = f"curl -X {method} http://127.0.0.1:8731{path}"
    if body:
        example = json.dumps(dict.fromkeys(required, "..."))
        command += f" -H 'Content-Type: application/json' -d '{example}'"
    yield f'<pre tabindex="0">{escape(command)}</pre>\n'
    yield "<table>\n<tr><th>Status</th><th>Meaning</th><th>Schema</th></tr>\n"
    for status, response in operation["responses"].items():
        name = response["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        link = f'<a href="#schema-{escape(name)}">{escape(name)}</a>'
        yield f"<tr><td>{escape(status)}</td><td>{escape(response['description'])}</td><td>{link}</td></tr>\n"
    yield "</table>\n</div>\n</details>\n"


def _row(name: str, schema: Mapping[str, Any], is_required: bool, place: str = "") -> str:
    kind = _type(schema)
    default = f"; default <code>{escape(json.dumps(schema['default']))}</code>" if "default" in schema else ""
    needed = "; required" if is_required else ""
    about = escape(schema.get("description", ""))
    return f"<tr><td><code>{escape(name)}</code>{place}</td><td>{kind}{needed}{default}</td><td>{about}</td></tr>\n"


def _type(schema: Mapping[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if "enum" in schema:
        return " or ".join([f"<code>{escape(str(value))}</code>" for value in schema["enum"]])
    return escape(str(schema.get("type", "any")))


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    text = escape(json.dumps(schema, indent=2))
    return (
        f'<details id="schema-{escape(name)}">\n<summary><code>{escape(name)}</code></summary>\n'
        f'<div>\n<pre tabindex="0">{text}</pre>\n</div>\n</details>\n'
    )
