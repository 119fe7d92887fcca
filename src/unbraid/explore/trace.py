"""The decoder of a method, read into plain steps.

PyTorch records what decoding one code does; whatever depends on the weights alone is computed here, and the rest
becomes the steps of a `Program`.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.fx import Interpreter, Node
from torch.fx.experimental.proxy_tensor import make_fx

from unbraid.explore.program import CODES, GIVEN, Program, Step
from unbraid.methods.base import Method

Name = str | list[str]  # of a value, or of the parts that it was cut into


@torch.no_grad()
def trace(method: Method, given: Tensor | None = None) -> Program:
    """The steps by which a method decodes one code.

    Args:
        method: One that decodes, on the CPU.
        given: Of a conditional method, what it is given with one code, (1, m): an example of its form.
    """
    method.eval()
    inputs = {CODES: torch.zeros(1, method.strands.size)} | ({} if given is None else {GIVEN: given})
    graph = make_fx(lambda *values: method.decode(*values))(*inputs.values())
    reader = _Reader(graph, list(inputs))
    reader.run(*inputs.values())
    used = {name for step in reader.steps for name in step.of}
    constants = {name: value.detach() for name, value in reader.constants.items() if name in used}
    sizes = {name: value.shape[1] for name, value in inputs.items()}
    return Program(sizes, constants, tuple(reader.steps), reader.last)


def unreadable(why: str) -> ValueError:
    """The mistake of asking for a page of a model that it could not decode."""
    return ValueError(f"A page cannot decode this model, {why}: use --serve, which decodes in Python.")


class _Reader(Interpreter):
    """Goes through a recorded graph once, with values, and writes down what is done to those that may change."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: list[str]) -> None:
        super().__init__(graph, garbage_collect_values=False)
        self.extra_traceback = False  # errors stay one sentence
        self.steps: list[Step] = []
        self.constants: dict[str, Tensor] = {}
        self.last = ""
        self._inputs = iter(inputs)
        self._names: dict[Node, Name] = {}  # of what depends on the inputs

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if n.op == "placeholder":
            self._names[n] = next(self._inputs)
        elif n.op == "output":
            self.last = str(self._names[n.args[0]])  # type: ignore[index]
        elif any(source in self._names for source in n.all_input_nodes):
            self._names[n] = self._read(n, value)
        return value

    def _read(self, node: Node, value: Any) -> Name:
        if node.target is operator.getitem:
            return self._names[node.args[0]][node.args[1]]  # type: ignore[index]
        kind = getattr(getattr(node.target, "overloadpacket", None), "__name__", str(node.target))
        if kind not in RULES:
            raise unreadable(f"it does not know its operation {kind!r}")
        arguments = [self.env[entry] if isinstance(entry, Node) else entry for entry in node.args]
        return RULES[kind](Call(self, node, arguments, value))

    def called(self, value: Any) -> str:
        """The name of one value: a step's, or that of a constant."""
        if isinstance(value, Node) and value in self._names:
            return str(self._names[value])
        return self.keep(self.env[value] if isinstance(value, Node) else torch.tensor(float(value)))

    def keep(self, constant: Tensor) -> str:
        """The name of a constant."""
        for name, known in self.constants.items():
            if known is constant:
                return name
        name = f"weight {len(self.constants)}"
        self.constants[name] = constant
        return name

    def add(self, do: str, *of: str, shape: Any, **how: Any) -> str:
        """The name of what one more step makes."""
        name = f"{do} {len(self.steps)}"
        self.steps.append(Step(name, do, of, tuple(shape), how))
        return name


class Call:
    """One operation of the graph, with its arguments' values and what comes out."""

    def __init__(self, reader: _Reader, node: Node, arguments: list[Any], value: Any) -> None:
        self.reader, self.node, self.arguments, self.value = reader, node, arguments, value

    def __getitem__(self, place: int) -> Any:
        """The value of an argument, or None."""
        return self.arguments[place] if place < len(self.arguments) else None

    def name(self, place: int) -> str:
        return self.reader.called(self.node.args[place])

    def add(self, do: str, *of: str, shape: Any = None, **how: Any) -> str:
        return self.reader.add(do, *of, shape=self.value.shape if shape is None else shape, **how)


def _same(do: str, **how: Any) -> Callable[[Call], str]:
    """An operation of one value that is a step as it stands."""
    return lambda call: call.add(do, call.name(0), **how)


def _pair(do: str) -> Callable[[Call], str]:
    """An operation of two values."""

    def rule(call: Call) -> str:
        if call.node.kwargs.get("alpha", 1) != 1:
            raise unreadable("which scales what it adds")
        return call.add(do, call.name(0), call.name(1))

    return rule


def _multiply_and_add(call: Call) -> str:
    product = call.add("multiply", call.name(1), call.name(2))
    return call.add("add", product, call.name(0))


def _convolution(call: Call) -> str:
    """A convolution as patches and one product, a transposed one as one product and patches."""
    x, weight, bias, stride, padding, dilation, transposed, more, groups = call.arguments
    (kernel, across), (step, also), (border, beside) = weight.shape[2:], stride, padding
    if kernel != across or step != also or border != beside or max(dilation) > 1 or any(more) or groups > 1:
        raise unreadable("whose convolutions are not square")
    how = {"kernel": kernel, "stride": step, "padding": border}
    (channels, height, width), (after, *sides) = x.shape[1:], call.value.shape[1:]
    if transposed:
        flat = call.add("reshape", call.name(0), shape=(channels, height * width))
        matrix = call.reader.keep(weight.flatten(1).t().contiguous())
        given = call.add("multiply", matrix, flat, shape=(after * kernel**2, height * width))
        made = call.add("fold", given, sides=list(sides), **how)
    else:
        patches = call.add("unfold", call.name(0), shape=(channels * kernel**2, sides[0] * sides[1]), **how)
        made = call.add("multiply", call.reader.keep(weight.flatten(1).contiguous()), patches)
    return made if bias is None else call.add("add", made, call.reader.keep(bias[:, None, None]))


def _fold(call: Call) -> str:
    sides, (kernel, across), dilation, (padding, beside), (stride, also) = call.arguments[1:]
    if kernel != across or padding != beside or stride != also or max(dilation) > 1:
        raise unreadable("whose patches are not square")
    flat = call.add("reshape", call.name(0), shape=call[0].shape[-2:])
    return call.add("fold", flat, sides=list(sides), kernel=kernel, stride=stride, padding=padding)


def _batch_norm(call: Call) -> Name:
    """With the statistics of training, a scale and a shift of each channel."""
    x, weight, bias, mean, variance = call.arguments[:5]
    scale = (variance + call.arguments[7]).rsqrt() * (1 if weight is None else weight)
    shift = (0 if bias is None else bias) - mean * scale
    spread = (-1, *[1] * (x.ndim - 2))
    scaled = call.add("times", call.name(0), call.reader.keep(scale.view(spread)), shape=x.shape)
    shifted = call.add("add", scaled, call.reader.keep(shift.view(spread)), shape=x.shape)
    return [shifted, "", ""]  # the batch's statistics, which nobody reads


def _cut(call: Call) -> Name:
    """The parts of a split, one after another."""
    axis, start, parts = (call[2] or 0) % call[0].ndim, 0, []
    for part in call.value:
        places = list(range(start, start + part.shape[axis]))
        parts.append(call.add("take", call.name(0), shape=part.shape, axis=axis, places=places))
        start += part.shape[axis]
    return parts


def _unbind(call: Call) -> Name:
    axis = (call[1] or 0) % call[0].ndim
    return [
        call.add("take", call.name(0), shape=part.shape, axis=axis, places=[place])
        for place, part in enumerate(call.value)
    ]


def _slice(call: Call) -> str:
    axis = (call[1] or 0) % call[0].ndim
    places = list(range(call[0].shape[axis]))[slice(call[2], call[3], call[4])]
    return call.add("take", call.name(0), axis=axis, places=places)


def _take(call: Call) -> str:
    if call.node.args[2] in call.reader._names:
        raise unreadable("which looks up by what it computes")
    return call.add("take", call.name(0), axis=call[1] % call[0].ndim, places=call[2].tolist())


def _join(call: Call) -> str:
    names = [call.reader.called(entry) for entry in call.node.args[0]]  # type: ignore[union-attr]
    return call.add("join", *names, axis=(call[1] or 0) % call.value.ndim)


def _transpose(call: Call) -> str:
    order = list(range(call[0].ndim))
    first, second = (0, 1) if len(call.arguments) == 1 else (call[1], call[2])
    order[first], order[second] = order[second], order[first]
    return call.add("permute", call.name(0), order=order)


def _mean(call: Call) -> str:
    (axis,) = call[1]
    return call.add("mean", call.name(0), axis=axis % call[0].ndim)


def _pixel_shuffle(call: Call) -> str:
    factor, (_, channels, height, width) = call[1], call[0].shape
    cut = (channels // factor**2, factor, factor, height, width)
    order = [0, 3, 1, 4, 2]
    made = call.add("reshape", call.name(0), shape=cut)
    turned = call.add("permute", made, shape=[cut[place] for place in order], order=order)
    return call.add("reshape", turned)


RULES: Mapping[str, Callable[[Call], Name]] = {
    **{name: _same("reshape") for name in ("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze")},
    **{name: _same("reshape") for name in ("clone", "_to_copy", "detach", "alias", "contiguous", "expand")},
    "relu": _same("relu"),
    "tanh": _same("tanh"),
    "sigmoid": _same("sigmoid"),
    "exp": _same("exp"),
    "atan": _same("atan"),
    "neg": _same("negative"),
    "leaky_relu": lambda call: call.add("leaky", call.name(0), slope=call[1] or 0.01),
    "clamp": lambda call: call.add("clamp", call.name(0), least=call[1], most=call[2]),
    "add": _pair("add"),
    "sub": _pair("subtract"),
    "mul": _pair("times"),
    "div": _pair("divide"),
    "eq": _pair("equal"),
    "mm": lambda call: call.add("multiply", call.name(0), call.name(1)),
    "addmm": _multiply_and_add,
    "convolution": _convolution,
    "col2im": _fold,
    "native_batch_norm": _batch_norm,
    "_native_batch_norm_legit_no_training": _batch_norm,
    "split": _cut,
    "split_with_sizes": _cut,
    "unbind": _unbind,
    "slice": _slice,
    "index_select": _take,
    "cat": _join,
    "t": _transpose,
    "transpose": _transpose,
    "permute": lambda call: call.add("permute", call.name(0), order=list(call[1])),
    "constant_pad_nd": lambda call: call.add("pad", call.name(0), amounts=list(call[1])),
    "mean": _mean,
    "pixel_shuffle": _pixel_shuffle,
}
