"""Build the HTML that notebooks show. All texts are escaped and shortened; colors follow the theme of the notebook."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

# In some notebooks, tables do not inherit the color of the text.
_TABLE = "color:inherit;font-size:inherit;margin:4px 0"
_CELL = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"
_TILE = "display:inline-block;vertical-align:top;margin:4px 8px 4px 0;text-align:center;font-size:smaller"
_NOTE = "border:1px solid currentColor;border-radius:3px;padding:6px;width:112px;opacity:0.7;overflow-wrap:anywhere"


def shorten(text: str, max_chars: int) -> str:
    """Return the text. If it is longer than `max_chars`, return its beginning and an ellipsis."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def format_text(text: object, max_chars: int = 200) -> str:
    """Shorten a text and escape it for HTML. Lone surrogates are replaced, because they cannot be encoded."""
    return escape(shorten(str(text), max_chars).encode("utf-8", "replace").decode("utf-8"))


def format_block(title: object, *parts: str) -> str:
    """Return the HTML of a section: an escaped title, and parts that are already HTML."""
    return f"<div><div><b>{format_text(title)}</b></div>{''.join(parts)}</div>"


def format_lines(lines: Iterable[object]) -> str:
    """Return HTML with one line per text."""
    return "".join(f"<div>{format_text(line, 400)}</div>" for line in lines)


def format_details(summary: object, content: str) -> str:
    """Return a collapsed HTML section with a summary. `content` must be HTML."""
    return f"<details><summary>{format_text(summary)}</summary>{content}</details>" if content else ""


def format_table(header: Sequence[object], rows: Sequence[Sequence[object]], max_rows: int = 30) -> str:
    """Return an HTML table of at most `max_rows` rows. A line below the table states the number of omitted rows."""
    if not rows:
        return ""
    head = "".join(f'<th style="{_CELL}">{format_text(cell, 60)}</th>' for cell in header)
    lines = ["".join(f'<td style="{_CELL}">{format_text(cell, 100)}</td>' for cell in row) for row in rows[:max_rows]]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    more = format_lines([f"and {len(rows) - max_rows:,} more"]) if len(rows) > max_rows else ""
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def format_classes(classes: Sequence[str] | None, max_classes: int = 30) -> str:
    """Return a collapsed HTML section: the number of classes as its summary, the first class names as its content."""
    if not classes:
        return ""
    lines = [f"{number}: {shorten(name, 60)}" for number, name in enumerate(classes[:max_classes])]
    if len(classes) > max_classes:
        lines.append(f"and {len(classes) - max_classes:,} more")
    return format_details(f"classes: {len(classes):,}", format_lines(lines))


def format_image(data: bytes, alternative: object = "") -> str:
    """Return an HTML image element that contains the bytes of a JPEG or PNG file."""
    kind = "jpeg" if data.startswith(b"\xff\xd8") else "png"
    encoded = base64.b64encode(data).decode()
    return f'<img alt="{format_text(alternative, 60)}" src="data:image/{kind};base64,{encoded}">'


def format_note(text: object) -> str:
    """Return an HTML frame with a text, which is shown instead of an image."""
    return f'<div style="{_NOTE}">{format_text(text, 120)}</div>'


def format_tile(content: str, caption: object) -> str:
    """Return HTML that shows a caption below an image or note. `content` must be HTML."""
    return f'<div style="{_TILE}">{content}<div style="max-width:160px">{format_text(caption, 60)}</div></div>'
