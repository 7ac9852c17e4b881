"""Graph text as a list of tokens, and a cursor on it that says what was expected."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import NoReturn, final

from tracegrad.errors import ParseError
from tracegrad.ir.literals import IDENTIFIER

_STRING = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
_KINDS = {
    "space": r"[ \t\r]+",
    "newline": r"\n",
    "comment": r"#[^\n]*",
    "string": _STRING,
    "value": rf"%(?:[A-Za-z_][A-Za-z0-9_]*|{_STRING})",
    "bits": r"0x[0-9a-fA-F]+(?![0-9a-zA-Z_])",
    "number": r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?![0-9a-zA-Z_])",
    # The name of a custom operator has its namespace in front.
    "word": rf"{IDENTIFIER}(?:::{IDENTIFIER})?",
    "symbol": r"<-|==|//|[()\[\]{},:=.@<>*+-]",
}
_TOKEN = re.compile("|".join(f"(?P<{k}>{p})" for k, p in _KINDS.items()), re.ASCII)
_END = "end"


@final
@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text.

    Attributes
    ----------
    kind : str
        ``newline``, ``comment``, ``string``, ``value``, ``bits``, ``number``,
        ``word``, ``symbol`` or ``end``.
    text : str
    start : int
        Where it begins in the text.
    """

    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        if self.kind == _END:
            return "the end of the text"
        return "the end of the line" if self.kind == "newline" else repr(self.text)


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of `text`; lines without any leave no trace.

    Raises
    ------
    ParseError
        At a character that begins no token.
    """
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _error_at(text, position, f"{text[position]!r} begins no word here")
        kind = str(match.lastgroup)
        if kind != "space" and not _is_idle(kind, found):
            found.append(Token(kind, match[0], position))
        position = match.end()
    found.append(Token(_END, "", len(text)))
    return found


def _is_idle(kind: str, before: list[Token]) -> bool:
    """Whether a newline or a comment stands on a line without tokens."""
    at_start = not before or before[-1].kind == "newline"
    return at_start and kind in ("newline", "comment")


def _error_at(text: str, position: int, message: str) -> ParseError:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return ParseError(f"line {line}, column {column}: {message}")


@final
class Cursor:
    """A place in the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokens_of(text)
        self._next = 0
        # By identity, where what was read begins: the verifier's lines.
        self.lines: dict[int, int] = {}
        # Up to where lines were counted, and how many there are.
        self._counted = (0, 1)

    @property
    def line(self) -> int:
        """The line of the next token, from 1."""
        start, line = self._counted
        line += self.text.count("\n", start, self.token.start)
        self._counted = self.token.start, line
        return line

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    @property
    def following(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def fail(self, message: str, at: Token | None = None) -> NoReturn:
        """Raise a ParseError that names the place of a token, the next one."""
        raise _error_at(self.text, (at or self.token).start, message)

    def expected(self, what: str) -> NoReturn:
        """Raise a ParseError that says what should stand here."""
        self.fail(f"expected {what}, found {self.token}")

    def take(self) -> Token:
        """Return the next token and go on."""
        found = self.token
        if found.kind != _END:
            self._next += 1
        return found

    def at(self, text: str) -> bool:
        """Whether the next token is the word or symbol `text`."""
        return self.token.text == text and self.token.kind in ("word", "symbol")

    def accept(self, text: str) -> bool:
        """Go on if the next token is `text`; say whether it was."""
        found = self.at(text)
        if found:
            self.take()
        return found

    def expect(self, text: str, where: str = "") -> Token:
        """Take the token `text`, which must stand here."""
        if not self.at(text):
            self.expected(f"{text!r}{where}")
        return self.take()

    def take_kind(self, kind: str, what: str) -> Token:
        """Take a token of a kind, which must stand here."""
        if self.token.kind != kind:
            self.expected(what)
        return self.take()

    def take_name(self, what: str) -> str:
        """Take a word, or a quoted one, which must stand here."""
        if self.token.kind == "string":
            return self.take_string(what)
        return self.take_kind("word", what).text

    def take_string(self, what: str) -> str:
        """Take a quoted string, which must stand here."""
        token = self.take_kind("string", what)
        return self.unquoted(token.text, token)

    def unquoted(self, text: str, token: Token) -> str:
        """Return what a string literal stands for."""
        try:
            return str(ast.literal_eval(text))
        except (SyntaxError, ValueError) as error:
            self.fail(f"{text} is not a string: {error.__class__.__name__}", token)

    def skip_newlines(self) -> None:
        """Go on over ends of lines."""
        while self.token.kind == "newline":
            self.take()
