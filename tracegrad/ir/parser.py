r"""From text to a graph.

The grammar (``x*`` any number of x, ``x?`` x or nothing, ``x,*`` x separated by commas;
lines end where the statements of a graph end)::

    graph     = "graph" NAME "(" (VALUE ":" spec "grad"?),* ")" "{"
                statement* "return" VALUE,* "}"
    statement = "const" definition "=" elements
              | results "=" OPERATOR "(" operand,* (NAME "=" literal),* ")" location?
              | "check" VALUE "==" literal location?
              | "write" VALUE "<-" VALUE "bumps" INT location?
              | "bind" VALUE ".grad" "<-" (VALUE | "None") location?
              | "state" VALUE "<-" VALUE location?
    results   = "(" ")" | definition,*
    definition = VALUE ":" spec "grad"?
    spec      = CODE "[" size,* "]" ("strides" "[" size,* "]")? ("@" DEVICE)?
              | "bool" | "int" | "float" | "complex" | "state" "<" WORD ">"
    operand   = VALUE | number | "None" | "[" VALUE,* "]"
    elements  = "[" element,* "]" | "base64" "(" STRING ")"
    literal   = number | "None" | STRING | CODE | DEVICE | "[" literal,* "]"
              | "size" "(" size ")" | "device" "(" STRING ("," INT)? ")"
              | "operator" "(" OPERATOR ")" | graph
              | OPERATOR "(" (NAME "=" literal),* ")" ("[" INT "]")?  (a step of a path)
    number    = INT | FLOAT | "inf" | "-inf" | "nan" ("(" BITS ")")?
              | "True" | "False" | "complex" "(" number "," number ")"
    size      = a sum of products of names and integers, such as 2*B + 1
    location  = "#" (FILE ":" LINE | "-") SCOPE?
    VALUE     = "%" NAME;  NAME = WORD | STRING
    CODE      = "f32" and the other short names of dtypes
    DEVICE    = WORD (":" INT)?

A line that consists of a comment is skipped. Elements of a constant stand in row-major
order; the bits of a NaN among them are as wide as the dtype, elsewhere 64.
"""

from __future__ import annotations

import difflib
import re
from typing import Any, final

from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.ir.graph import (
    Attributes,
    BindGrad,
    Check,
    Constant,
    Graph,
    Node,
    Operand,
    Value,
    WriteBack,
    WriteState,
    WriteStorage,
)
from tracegrad.ir.literal_parser import (
    parse_elements,
    parse_integer,
    parse_literal,
    parse_spec,
)
from tracegrad.ir.tokens import Cursor, Token
from tracegrad.ir.verifier import verify_parsed
from tracegrad.location import Location
from tracegrad.spec import TensorSpec

_LOCATION = re.compile(
    r"#\s*(?:-|(?P<file>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"#\\:]+)"
    r":(?P<line>\d{1,9}))(?:\s+(?P<scope>\w+|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))?\s*",
    re.ASCII,
)


def parse(text: str) -> Graph:
    """Return the graph that `text` describes.

    Raises
    ------
    ParseError
        If the text breaks the grammar, with line, column and what was expected.
    VerifyError
        If the graph breaks a rule of the IR.

    Examples
    --------
    >>> graph = parse('''
    ... graph twice(%x: f32[3]) {
    ...   %y: f32[3] = add(%x, %x)
    ...   return %y
    ... }''')
    >>> print(graph.nodes[0])
    %y: f32[3] = add(%x, %x)
    """
    cursor = Cursor(text)
    graph = _GraphParser(cursor).parse()
    cursor.skip_newlines()
    if cursor.token.kind != "end":
        cursor.expected("nothing after the graph")
    verify_parsed(graph, cursor.lines)
    return graph


@final
class _GraphParser:
    """Reads one graph; a sub-graph is read by another, on the same cursor."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._values: dict[str, Value] = {}
        self._constants: list[Constant] = []
        self._nodes: list[Node] = []
        self._checks: list[Check] = []
        self._writes: list[WriteBack] = []

    def parse(self) -> Graph:
        """Return the graph that begins here."""
        cursor = self._cursor
        cursor.skip_newlines()
        first = cursor.line
        cursor.expect("graph")
        name = cursor.take_name("the graph's name")
        inputs = self._inputs()
        cursor.expect("{")
        self._end_of_line()
        while not cursor.at("return"):
            self._statement()
        last = cursor.line
        cursor.take()
        outputs = self._outputs()
        cursor.expect("}", " after the outputs")
        graph = Graph(
            name,
            inputs,
            tuple(self._nodes),
            outputs,
            tuple(self._constants),
            tuple(self._checks),
            tuple(self._writes),
        )
        cursor.lines |= {id(graph): first, id(graph.outputs): last}
        return graph

    def _inputs(self) -> tuple[Value, ...]:
        cursor = self._cursor
        cursor.expect("(")
        cursor.skip_newlines()
        inputs: list[Value] = []
        while not cursor.accept(")"):
            if inputs:
                cursor.expect(",", " or ')' after an input")
                cursor.skip_newlines()
                if cursor.accept(")"):
                    break
            inputs.append(self._definition())
            cursor.skip_newlines()
        return tuple(inputs)

    def _outputs(self) -> tuple[Value, ...]:
        outputs: list[Value] = []
        while self._cursor.token.kind != "newline":
            if outputs:
                self._cursor.expect(",", " between outputs")
            outputs.append(self._use())
        self._end_of_line()
        return tuple(outputs)

    # -- statements ------------------------------------------------------------

    def _statement(self) -> None:
        token, line = self._cursor.token, self._cursor.line
        read = _STATEMENTS.get(token.text if token.kind == "word" else "")
        if read is not None:
            self._cursor.take()
            made: object = read(self)
        elif token.kind == "value" or token.text == "(":
            made = self._node()
        else:
            self._cursor.expected("a statement or 'return'")
        self._cursor.lines[id(made)] = line

    def _constant(self) -> Constant:
        value = self._definition()
        self._cursor.expect("=")
        if not isinstance(value.spec, TensorSpec):
            self._cursor.fail(f"a constant is a tensor, {value} is {value.spec}")
        array = parse_elements(self._cursor, value.spec)
        constant = Constant(value, array)
        self._constants.append(constant)
        self._end_of_line()
        return constant

    def _node(self) -> Node:
        definitions = self._results()
        self._cursor.expect("=")
        operator = self._operator()
        self._cursor.expect("(", f" after {operator.name}")
        inputs, attributes = self._arguments(operator)
        results = tuple(self._defined(value) for value in definitions)
        location, scope = self._end_of_line(location=True, scope=True)
        node = Node(operator, inputs, attributes, results, location, scope)
        self._nodes.append(node)
        return node

    def _results(self) -> list[Value]:
        if self._cursor.accept("("):
            self._cursor.expect(")")
            return []
        results = [self._new_value()]
        while self._cursor.accept(","):
            results.append(self._new_value())
        return results

    def _operator(self) -> OpDef:
        token = self._cursor.take_kind("word", "an operator")
        if token.text not in OPERATORS:
            near = difflib.get_close_matches(token.text, OPERATORS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            self._cursor.fail(f"no operator is called {token.text!r}{hint}", token)
        return OPERATORS[token.text]

    def _arguments(self, operator: OpDef) -> tuple[tuple[Operand, ...], Attributes]:
        cursor = self._cursor
        inputs: list[Operand] = []
        given: dict[str, Any] = {}
        first = True
        while not cursor.accept(")"):
            if not first:
                cursor.expect(",", " or ')' after an argument")
            first = False
            if cursor.following.text == "=":
                self._attribute(operator, given)
            elif given:
                cursor.expected(f"an attribute of {operator.name}")
            else:
                inputs.append(self._operand())
        names = _attribute_names(operator)
        return tuple(inputs), tuple((n, given[n]) for n in names if n in given)

    def _attribute(self, operator: OpDef, given: dict[str, Any]) -> None:
        names = _attribute_names(operator)
        name = self._cursor.take()
        if name.text not in names:
            self._cursor.fail(
                f"{operator.name} has no attribute {name.text!r}; it has {names}", name
            )
        if name.text in given:
            self._cursor.fail(f"the attribute {name.text!r} is given twice", name)
        self._cursor.expect("=", f" after the attribute {name.text!r}")
        given[name.text] = parse_literal(self._cursor, self._sub_graph)

    def _operand(self) -> Any:
        cursor = self._cursor
        if cursor.token.kind == "value":
            return self._use()
        if not cursor.accept("["):
            token = cursor.token
            found = parse_literal(cursor, self._sub_graph)
            if found is not None and not isinstance(found, int | float | complex):
                cursor.fail("expected a value, a number, None or an attribute", token)
            return found
        values: list[Value] = []
        while not cursor.accept("]"):
            if values:
                cursor.expect(",", " or ']' after a value")
            values.append(self._use())
        return tuple(values)

    def _sub_graph(self) -> Graph:
        return _GraphParser(self._cursor).parse()

    def _check(self) -> Check:
        value = self._use()
        self._cursor.expect("==")
        expected = parse_literal(self._cursor, self._sub_graph)
        check = Check(value, expected, self._location())
        self._checks.append(check)
        return check

    def _write(self) -> WriteBack:
        target, value = self._target(), self._use()
        self._cursor.expect("bumps")
        bumps = parse_integer(self._cursor)
        write = WriteStorage(target, value, bumps, self._location())
        self._writes.append(write)
        return write

    def _bind(self) -> WriteBack:
        target = self._use()
        self._cursor.expect(".")
        self._cursor.expect("grad")
        self._cursor.expect("<-")
        value = None if self._cursor.accept("None") else self._use()
        bound = BindGrad(target, value, self._location())
        self._writes.append(bound)
        return bound

    def _state(self) -> WriteBack:
        target, value = self._target(), self._use()
        written = WriteState(target, value, self._location())
        self._writes.append(written)
        return written

    def _target(self) -> Value:
        target = self._use()
        self._cursor.expect("<-")
        return target

    # -- values ----------------------------------------------------------------

    def _name_of(self, token: Token) -> str:
        text = token.text[1:]
        return self._cursor.unquoted(text, token) if text[0] in "'\"" else text

    def _new_value(self) -> Value:
        token = self._cursor.take_kind("value", "a value such as %x")
        self._cursor.expect(":", f" and a spec after {token.text}")
        spec = parse_spec(self._cursor)
        return Value(self._name_of(token), spec, self._cursor.accept("grad"))

    def _defined(self, value: Value) -> Value:
        # A second definition is for the verifier to find, which knows both.
        self._values.setdefault(value.name, value)
        return value

    def _definition(self) -> Value:
        return self._defined(self._new_value())

    def _use(self) -> Value:
        token = self._cursor.take_kind("value", "a value such as %x")
        name = self._name_of(token)
        if name not in self._values:
            self._cursor.fail(f"{token.text} is not defined above", token)
        return self._values[name]

    # -- ends of lines ---------------------------------------------------------

    def _location(self) -> Location | None:
        return self._end_of_line(location=True)[0]

    def _end_of_line(
        self, location: bool = False, scope: bool = False
    ) -> tuple[Location | None, str]:
        cursor = self._cursor
        found: tuple[Location | None, str] = (None, "")
        if location and cursor.token.kind == "comment":
            found = self._read_location(cursor.take(), scope)
        if cursor.token.kind != "newline":
            cursor.expected("the end of the line")
        cursor.take()
        return found

    def _read_location(self, token: Token, scope: bool) -> tuple[Location | None, str]:
        match = _LOCATION.fullmatch(token.text)
        if match is None or (match["scope"] and not scope):
            self._cursor.fail(
                f"expected a location such as '# model.py:12', found {token}", token
            )
        named = self._maybe_quoted(match["scope"] or "", token)
        if match["file"] is None:
            return None, named
        file = self._maybe_quoted(match["file"], token)
        return Location(file, int(match["line"])), named

    def _maybe_quoted(self, text: str, token: Token) -> str:
        return self._cursor.unquoted(text, token) if text[:1] in ("'", '"') else text


_STATEMENTS = {
    "const": _GraphParser._constant,
    "check": _GraphParser._check,
    "write": _GraphParser._write,
    "bind": _GraphParser._bind,
    "state": _GraphParser._state,
}


def _attribute_names(operator: OpDef) -> list[str]:
    return [attribute.name for attribute in operator.attributes]
