# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Programs made at random from the grammar and the types of the expression language; fuzz_ax.py runs them.

A program is a tree of nodes, so that it can be made smaller without becoming nonsense (smaller()). What it computes is defined: no division of
integers by zero, no real number that no integer can hold is converted to one, no index outside, no variable without a value. It reads the
attributes of golden/points_input.txt or the grids of golden/volumes_input.txt and writes attributes of its own, x0, x1 ... with a prefix,
so programs with different prefixes can run as one.
"""
import pathlib
import random
import re

HERE = pathlib.Path(__file__).resolve().parent
ELEMENTS = ["bool", "int16", "int32", "int64", "float", "double"]  # by rank
LETTER = {"int32": "i", "float": "f", "double": "d"}
VECTORS = [f"vec{n}{e}" for n in (2, 3, 4) for e in "ifd"]
MATRICES = [f"mat{n}{e}" for n in (3, 4) for e in "fd"]
LOCALS = ["bool", "int32", "int64", "float", "double", "string"] + VECTORS + MATRICES
POINTS = {"b": "bool", "b1": "bool", "h": "int16", "h1": "int16", "z": "int16", "i": "int32", "j": "int32", "l": "int64", "k": "int64", "f": "float",
          "g": "float", "t": "float", "d": "double", "e": "double", "u": "double", "vi": "vec3i", "wi": "vec3i", "v": "vec3f", "w": "vec3f",
          "P": "vec3f", "Cd": "vec3f", "rgb": "vec3f", "hsv": "vec3f", "vd": "vec3d", "wd": "vec3d", "m": "mat3f", "md": "mat3d", "q": "mat4f",
          "qd": "mat4d", "name": "string"}
VOLUMES = {"a": "float", "b": "float", "coarse": "float", "ijk": "vec3i"}
# Functions whose values differ on purpose (docs/expressions.md), or that have none.
LEFT_OUT = {"rand", "rand32", "print", "external", "externalv", "curlsimplexnoise", "polardecompose", "addtogroup", "removefromgroup", "ingroup",
            "deletepoint", "inverse", "getcoord", "getcoordx", "getcoordy", "getcoordz", "getvoxelpws", "hash", "eigen", "simplexnoise", "argsort"}


def size_of(kind):
    return int(kind[3]) if kind.startswith("vec") else int(kind[3]) ** 2 if kind.startswith("mat") else 1


def element_of(kind):
    if kind in ELEMENTS or kind == "string":
        return kind
    return {"i": "int32", "f": "float", "d": "double"}[kind[-1]]


def is_scalar(kind):
    return kind in ELEMENTS


def is_real(kind):
    return element_of(kind) in ("float", "double")


def rank(kind):
    return ELEMENTS.index(element_of(kind))


class Node:
    """sort: "e" an expression, "s" a statement, "p" a place that is assigned to. parts: text and nodes."""

    def __init__(self, sort, kind, *parts):
        self.sort, self.kind, self.parts = sort, kind, list(parts)

    def text(self):
        return "".join(p if isinstance(p, str) else p.text() for p in self.parts)

    def nodes(self):
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.nodes()

    def without(self, target, by):
        """A copy in which `by` (None: nothing) stands in place of a node."""
        if self is target:
            return by
        parts = [p if isinstance(p, str) else p.without(target, by) for p in self.parts]
        return Node(self.sort, self.kind, *[p for p in parts if p is not None])


def literal(kind, rng=None):
    r = rng.random() if rng else 0
    if kind == "string":
        return '"' + (rng.choice(["a", "foo", "", "12", "-3.5", "a b"]) if rng else "a") + '"'
    if kind == "bool":
        return ("true" if r < 0.5 else "false") if rng else "true"
    if kind in ("int16", "int32"):
        return str(rng.choice([0, 1, 2, 3, 5, 7, 100, 65537]) if rng else 1)
    if kind == "int64":
        return (str(rng.choice([0, 1, 2, 3, 9, 5000000000])) if rng else "1") + "l"
    if kind in ("float", "double"):
        return (rng.choice(["0.0", "1.0", "0.5", "2.0", "3.25", "1e-3", ".125", "10.0"]) if rng else "1.0") + ("f" if kind == "float" else "")
    return "{" + ", ".join(literal(element_of(kind), rng) for _ in range(size_of(kind))) + "}"


def read_signatures():
    """{result: [(name, [argument types])]}; arguments that are written are left out, they need places."""
    found = {}
    for line in (HERE / "signatures.txt").read_text(encoding="utf-8").splitlines():
        match = re.match(r"(\w+) (\w+)\((.*)\)$", line)
        if not match or match[1] in LEFT_OUT or "&" in match[3]:
            continue
        found.setdefault(match[2], []).append((match[1], [a.strip() for a in match[3].split(",") if a.strip()]))
    return found


SIGNATURES = read_signatures()


class Generator:
    def __init__(self, seed, domain="points", prefix="x"):
        self.rng = random.Random(seed)
        self.domain, self.prefix = domain, prefix
        self.inputs = POINTS if domain == "points" else VOLUMES
        self.scopes, self.own, self.names, self.loops = [{}], {}, 0, 0

    # ---- places

    def visible(self, kind):
        return [n for scope in self.scopes for n, k in scope.items() if k == kind]

    def place(self, kind):
        """Something of exactly this type that may be assigned to, or None. Reals that an integer is made from stay what they are: inputs."""
        choices = [(n, "") for n in self.visible(kind) if not n.startswith("n")]
        choices += [(f"{k}@{n}", "") for n, k in self.own.items() if k == kind]
        for n, k in list(self.own.items()) + [(n, k) for scope in self.scopes for n, k in scope.items()]:
            if is_scalar(k) or k == "string" or element_of(k) != kind or n.startswith("n"):
                continue
            name = f"{k}@{n}" if n in self.own else n
            choices.append((name, k))
        if not choices:
            return None
        name, container = self.rng.choice(choices)
        if not container:
            return Node("p", kind, name)
        if container.startswith("vec") and self.rng.random() < 0.5:
            return Node("p", kind, name + "." + self.rng.choice("xyz"[:min(size_of(container), 3)]))
        return Node("p", kind, name, "[", *self.index(container), "]")

    def index(self, container):
        side = int(container[3])
        if container.startswith("mat") and self.rng.random() < 0.5:
            return [self.one_index(side), ", ", self.one_index(side)]
        return [self.one_index(size_of(container))]

    def one_index(self, count):
        if self.rng.random() < 0.7:
            return str(self.rng.randrange(count))
        return Node("e", "index", "(", self.expression("int32", 1), f") % {count}")

    # ---- expressions

    def leaf(self, kind):
        choices = [Node("e", kind, literal(kind if kind != "int16" else "int32", self.rng))] if kind != "int16" else []
        choices += [Node("e", kind, n) for n in self.visible(kind)]
        choices += [Node("e", kind, f"{k}@{n}") for n, k in list(self.inputs.items()) + list(self.own.items()) if k == kind]
        for n, k in list(self.inputs.items()):
            if not is_scalar(k) and k != "string" and element_of(k) == kind and self.rng.random() < 0.2:
                choices.append(Node("e", kind, f"{k}@{n}", "[", *self.index(k), "]"))
        return self.rng.choice(choices) if choices else Node("e", "bool", literal("bool", self.rng))  # volumes have no int16

    def input(self, kind):
        names = [n for n, k in self.inputs.items() if k == kind]
        return Node("e", kind, f"{kind}@{self.rng.choice(names)}") if names else Node("e", kind, literal(kind))

    def tame(self, kind):
        """A real number that an integer can hold."""
        r = self.rng.random()
        name = self.rng.choice([n for n, k in self.inputs.items() if k == kind] or ["?"])
        if r < 0.4 or name == "?":
            return Node("e", kind, literal(kind, self.rng))
        if r < 0.8:
            return Node("e", kind, f"{kind}@{name}")
        return Node("e", kind, "-(", self.tame(kind), ")")

    def expression(self, kind, depth):
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(kind)
        for _ in range(8):
            made = self.rng.choice(self.makers(kind))(kind, depth - 1)
            if made:
                return made
        return self.leaf(kind)

    def makers(self, kind):
        common = [self.ternary, self.comma, self.assignment, self.call]
        if kind == "string":
            return [self.join, self.ternary, self.assignment, self.comma, self.call]
        if kind == "bool":
            return common + [self.comparison, self.comparison, self.logic, self.logic, self.inverse, self.cast]
        if not is_scalar(kind):
            return common + [self.arithmetic, self.arithmetic, self.pack, self.pack, self.sign, self.product]
        own = [self.arithmetic, self.arithmetic, self.arithmetic, self.sign, self.crement, self.cast]
        return common + own + ([] if is_real(kind) else [self.bits, self.bits])

    def lower(self, kind):
        """A type of equal or lower rank that may stand beside `kind` in an operation of that rank."""
        below = [e for e in ELEMENTS[:rank(kind) + 1]]
        if is_scalar(kind):
            return self.rng.choice(below)
        same = [k for k in LOCALS if not is_scalar(k) and k != "string" and size_of(k) == size_of(kind) and k[:3] == kind[:3] and rank(k) <= rank(kind)]
        if kind.startswith("mat"):
            return self.rng.choice(same + [element_of(kind)])
        return self.rng.choice(below + same)

    def arithmetic(self, kind, depth):
        matrix = kind.startswith("mat")
        operator = self.rng.choice("+-*" if matrix else "+-*/%")
        a, b = self.expression(kind, depth), self.expression(self.lower(kind), depth)
        if kind == "int16" and b.kind != "int16":
            return None
        if operator in "/%" and not is_real(kind):
            b = Node("e", "int32", self.rng.choice("12357"))
        elif self.rng.random() < 0.5:
            a, b = b, a
        if matrix and (is_scalar(a.kind) or is_scalar(b.kind)) and "{" in (a.text() + b.text()):
            return None  # the original does not take a list of nine numbers for a matrix here
        if operator == "%" and (a.kind in ("bool", "int16") and b.kind in ("bool", "int16")):
            return None
        return Node("e", kind, "(", a, f" {operator} ", b, ")")

    def product(self, kind, depth):
        if kind[:3] != "vec" or kind[3] not in "34" or kind[-1] not in "fd":
            return None
        matrix = "mat" + (kind[3] if self.rng.random() < 0.7 else "4") + kind[-1]
        a, b = self.expression(kind, depth), self.expression(matrix, depth)
        if self.rng.random() < 0.5:
            a, b = b, a
        return Node("e", kind, "(", a, " * ", b, ")")

    def bits(self, kind, depth):
        if kind == "int16":
            return None
        a, b = self.expression(kind, depth), self.expression(self.rng.choice([e for e in ELEMENTS[:rank(kind) + 1]]), depth)
        operator = self.rng.choice(["&", "|", "^", "<<", ">>", "~"])
        if operator == "~":
            return Node("e", kind, "~", a)
        if operator in ("<<", ">>"):
            b = Node("e", "int32", self.rng.choice("0123457"))
        return Node("e", kind, "(", a, f" {operator} ", b, ")")

    def sign(self, kind, depth):
        return Node("e", kind, self.rng.choice(["-", "+"]), "(", self.expression(kind, depth), ")")

    def inverse(self, kind, depth):
        return Node("e", kind, "!", "(", self.expression(self.rng.choice(["bool", "int32", "float", "double", "int64"]), depth), ")")

    def comparison(self, kind, depth):
        operator = self.rng.choice(["<", ">", "<=", ">=", "==", "!="])
        a = self.rng.choice(ELEMENTS[2:] if operator not in ("==", "!=") else ELEMENTS[2:] + VECTORS + MATRICES)
        left, right = self.expression(a, depth), self.expression(self.lower(a), depth)
        if a.startswith("mat") and is_scalar(right.kind) and "{" in left.text():
            return None
        return Node("e", kind, "(", left, f" {operator} ", right, ")")

    def logic(self, kind, depth):
        kinds = ["bool", "int32", "float", "double"]
        operator = self.rng.choice(["&&", "||"])
        return Node("e", kind, "(", self.expression(self.rng.choice(kinds), depth), f" {operator} ", self.expression(self.rng.choice(kinds), depth), ")")

    def ternary(self, kind, depth):
        condition = self.expression(self.rng.choice(["bool", "bool", "int32", "float"]), depth)
        return Node("e", kind, "(", condition, " ? ", self.expression(kind, depth), " : ", self.expression(kind, depth), ")")

    def comma(self, kind, depth):
        if self.rng.random() < 0.6:
            return None
        return Node("e", kind, "(", self.expression(self.rng.choice(LOCALS), depth), ", ", self.expression(kind, depth), ")")

    def source(self, kind, depth):
        """A value that may be stored where a `kind` is."""
        if self.rng.random() < 0.6 or kind == "string":
            return self.expression(kind, depth)
        if kind in ("int16", "int32", "int64"):
            other = self.rng.choice(ELEMENTS)
            return self.tame(other) if is_real(other) else self.expression(other, depth)
        if is_scalar(kind):
            return self.expression(self.rng.choice(ELEMENTS), depth)
        same = [k for k in LOCALS if k[:3] == kind[:3] and size_of(k) == size_of(kind) and k != "string" and not is_scalar(k)]
        other = self.rng.choice(same + ELEMENTS)
        return self.tame(other) if is_real(other) and not is_real(kind) and is_scalar(other) else \
            self.expression(other if is_real(kind) or not is_real(other) else kind, depth)

    def assignment(self, kind, depth):
        target = self.place(kind)
        if not target or self.rng.random() < 0.3:
            return None
        operator = "="
        if self.rng.random() < 0.4 and kind not in ("bool", "string", "int16"):
            operator = self.rng.choice(["+=", "-=", "*="] + (["/=", "%="] if is_real(kind) and not kind.startswith("mat") else []))
        if operator != "=":
            value = self.expression(self.lower(kind), depth)
        else:
            value = self.source(kind, depth)
        return Node("e", kind, "(", target, f" {operator} ", value, ")")

    def crement(self, kind, depth):
        target = self.place(kind)
        if not target:
            return None
        sign = self.rng.choice(["++", "--"])
        return Node("e", kind, sign, target) if self.rng.random() < 0.5 else Node("e", kind, target, sign)

    def cast(self, kind, depth):
        if kind == "int16":  # there is no such cast
            return None
        # A cast to its own type is what the original does not survive.
        other = self.rng.choice([e for e in ELEMENTS if e != kind and (self.domain == "points" or e != "int16")])
        value = self.tame(other) if is_real(other) and kind in ("int16", "int32", "int64") else self.expression(other, depth)
        return Node("e", kind, f"{kind}(", value, ")")

    def pack(self, kind, depth):
        parts = [self.expression(element_of(kind), depth if size_of(kind) < 9 else 0)]
        for _ in range(size_of(kind) - 1):
            lower = self.rng.choice(ELEMENTS[:rank(kind) + 1])
            parts += [", ", self.expression(element_of(kind) if self.rng.random() < 0.7 else lower, depth if size_of(kind) < 9 else 0)]
        return Node("e", kind, "{", *parts, "}")

    def join(self, kind, depth):
        return Node("e", kind, "(", self.expression(kind, depth), " + ", self.expression(kind, depth), ")")

    def call(self, kind, depth):
        if kind not in SIGNATURES:
            return None
        name, arguments = self.rng.choice(SIGNATURES[kind])
        if name in ("pow", "floormod", "truncatemod", "euclideanmod") and not is_real(arguments[-1]):
            return Node("e", kind, f"{name}(", self.expression(arguments[0], depth), f", {self.rng.choice('123')}", "l" if arguments[-1] == "int64" else "", ")")
        parts = []
        for argument in arguments:
            parts += [", "] if parts else []
            # Of integers the original takes lengths in 32 bits, of float matrices inverses in float: small numbers only.
            small = name in ("inverse", "length", "lengthsq", "normalize", "determinant", "adjoint", "cofactor")
            parts.append(self.input(argument) if small else self.expression(argument, min(depth, 1) if size_of(argument) > 4 else depth))
        return Node("e", kind, f"{name}(", *parts, ")")

    # ---- statements

    def name(self, kind, letter="a"):
        self.names += 1
        name = f"{letter}{self.names}"
        self.scopes[-1][name] = kind
        return name

    def declare(self, depth):
        kind = self.rng.choice(LOCALS)
        value = self.source(kind, depth)
        return Node("s", "", f"{kind} {self.name(kind)} = ", value, ";\n")

    def store(self, depth):
        """A new attribute of the program's own."""
        kinds = ["bool", "int16", "int32", "int64", "float", "double", "vec3i", "vec3f", "vec3d", "mat3f", "mat3d", "mat4f", "mat4d", "string"]
        kind = self.rng.choice(kinds if self.domain == "points" else ["bool", "int32", "int64", "float", "double", "vec3i", "vec3f", "vec3d"])
        value = self.source(kind, depth)
        name = f"{self.prefix}{len(self.own)}"
        self.own[name] = kind
        return Node("s", "", f"{kind}@{name} = ", value, ";\n")

    def effect(self, depth):
        kind = self.rng.choice(LOCALS)
        made = self.assignment(kind, depth) or self.expression(kind, depth)
        if made.parts[0] == "(" and made.parts[-1] == ")" and self.rng.random() < 0.8:
            made = Node("e", made.kind, *made.parts[1:-1])
        return Node("s", "", made, ";\n")

    def body(self, depth):
        self.scopes.append({})
        own = dict(self.own)
        made = [self.statement(depth) for _ in range(self.rng.randint(1, 3))]
        self.scopes.pop()
        del own  # an attribute made in a branch exists everywhere
        return Node("s", "", "{\n", *made, "}\n")

    def branch(self, depth):
        condition = self.expression(self.rng.choice(["bool", "bool", "int32", "float"]), depth)
        made = Node("s", "", "if (", condition, ") ", self.body(depth - 1))
        if self.rng.random() < 0.5:
            made.parts += ["else ", self.body(depth - 1)]
        return made

    def loop(self, depth):
        self.scopes.append({})
        counter, count = self.name("int32", "n"), self.rng.randint(1, 4)
        self.loops += 1
        body = self.body(depth - 1)
        if self.rng.random() < 0.3:
            body.parts.insert(-1, Node("s", "", "if (", self.expression("bool", 1), f") {self.rng.choice(['break', 'continue'])};\n"))
        self.loops -= 1
        self.scopes.pop()
        r = self.rng.random()
        if r < 0.6:
            return Node("s", "", f"for (int32 {counter} = 0; {counter} < {count}; ++{counter}) ", body)
        if r < 0.8:
            return Node("s", "", f"{{ int32 {counter} = {count}; while ({counter}--) ", body, "}\n")
        return Node("s", "", f"{{ int32 {counter} = {count}; do ", body, f"while (--{counter} > 0)\n}}\n")

    def statement(self, depth):
        r = self.rng.random()
        if depth > 1 and r < 0.1:
            return self.branch(depth - 1)
        if depth > 1 and r < 0.18:
            return self.loop(depth - 1)
        if r < 0.45:
            return self.declare(depth)
        if r < 0.75:
            return self.store(depth)
        return self.effect(depth)

    def program(self, statements=6, depth=3):
        made = [self.declare(1) for _ in range(2)] + [self.store(1)]
        made += [self.statement(depth) for _ in range(self.rng.randint(1, statements))]
        for name, kind in list(self.scopes[0].items()):  # what the variables hold in the end
            target = f"{self.prefix}{len(self.own)}"
            if kind.startswith(("vec2", "vec4")):
                element = element_of(kind)
                self.own[target] = element
                made.append(Node("s", "", f"{element}@{target} = {name}[0] + {name}[{size_of(kind) - 1}] * {3};\n"))
            elif self.domain == "points" or not kind.startswith("mat") and kind != "string":
                self.own[target] = kind
                made.append(Node("s", "", f"{kind}@{target} = {name};\n"))
        return Node("s", "", "{\n", *made, "}\n")


def smaller(program):
    """Programs a step smaller, the boldest first: without a statement, or with a part of an expression in its place."""
    nodes = list(program.nodes())
    for node in nodes[1:]:
        if node.sort == "s":
            yield program.without(node, None)
    for node in nodes[1:]:
        if node.sort == "s":  # a block in place of a branch or a loop
            for part in node.parts:
                if isinstance(part, Node) and part.sort == "s":
                    yield program.without(node, part)
    for node in nodes:
        if node.sort != "e":
            continue
        if node.kind in LOCALS and node.text() != literal(node.kind):
            yield program.without(node, Node("e", node.kind, literal(node.kind)))
        for part in node.nodes():
            if part is not node and part.sort == "e" and part.kind == node.kind:
                yield program.without(node, part)
