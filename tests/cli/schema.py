"""Checks documents by the JSON Schema that the Python package ships: as much of it as that file uses."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "apps/python/memreplay/memreplay-1.schema.json"
SCHEMA = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"anyOf": [], "$defs": {}}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int}


def is_a(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name]) and (name != "integer" or not isinstance(value, bool))


def resolved(schema):
    return SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def faults_of_object(value, schema, at):
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from (f"{at}.{key} is missing" for key in schema.get("required", []) if key not in value)
    for key, member in value.items():
        if key in known:
            yield from faults(member, known[key], f"{at}.{key}")
        elif others is False:
            yield f"{at}.{key} is not listed"
        elif others is not True:
            yield from faults(member, others, f"{at}.{key}")


def faults(value, schema, at="."):
    """What a value breaks of a schema."""
    schema = resolved(schema)
    if "anyOf" in schema:
        found = [list(faults(value, one, at)) for one in schema["anyOf"]]
        yield from min(found, key=len)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{at} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at} is {value!r}, none of {schema['enum']}"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_a(value, name) for name in types):
        yield f"{at} is {value!r}, not {' or '.join(types)}"
    elif isinstance(value, dict):
        yield from faults_of_object(value, schema, at)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from faults(item, schema["items"], f"{at}[{index}]")


def faults_of(text):
    """What a printed report breaks of the schema; nothing where it is no report of ours."""
    try:
        document = json.loads(text)
    except ValueError:
        return []
    if not isinstance(document, dict) or document.get("schema") != "memreplay/1":
        return []
    return list(faults(document, {"anyOf": SCHEMA["anyOf"]}))
