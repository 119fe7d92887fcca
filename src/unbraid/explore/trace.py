"""Traces the decoder of a method into a `Program`.

PyTorch records the operations that decode one code. Values that depend only on the weights become constants, all other
operations become steps of the program.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.fx import Interpreter, Node
from torch.fx.experimental.proxy_tensor import make_fx

from unbraid.explore.normalization import batch_norm, group_norm
from unbraid.explore.program import CODES, CONDITION, Op, Program
from unbraid.methods import Method
from unbraid.progress import signals_deferred

Name = str | list[str]  # of a value, or of the values that it was split into


@torch.no_grad()
def trace(method: Method, condition: Tensor | None = None) -> Program:
    """The program with which a method decodes one code.

    Args:
        method: Method with a decoder, on the CPU.
        condition: Example condition (1, m) of a conditional method.
    """
    method.eval()
    inputs = {CODES: torch.zeros(1, method.strands.size)} | (
        {} if condition is None else {CONDITION: condition}
    )
    try:
        with signals_deferred():  # an exception in the middle ends the process, or becomes a RuntimeError
            graph = make_fx(lambda *values: method.decode(*values))(*inputs.values())
    except RuntimeError as error:  # your own decoder may branch on values, or fail
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise untraceable(f"PyTorch cannot record its operations ({reason})") from None
    reader = _Reader(graph, list(inputs))
    reader.run(*inputs.values())
    used = {name for step in reader.steps for name in step.inputs}
    constants = {name: value.detach() for name, value in reader.constants.items() if name in used}
    sizes = {name: value.shape[1] for name, value in inputs.items()}
    return Program(sizes, constants, tuple(reader.steps), reader.last)


def untraceable(why: str) -> ValueError:
    """The error for a model that the page cannot decode."""
    return ValueError(f"The page cannot decode this model: {why}. Use --serve, which decodes in Python.")


class _Reader(Interpreter):
    """Interprets a recorded graph once and records the operations on values that depend on the inputs."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: list[str]) -> None:
        super().__init__(graph, garbage_collect_values=False)
        self.extra_traceback = False  # errors stay one sentence
        self.steps: list[Op] = []
        self.constants: dict[str, Tensor] = {}
        self.last = ""
        self._inputs = iter(inputs)
        self._names: dict[Node, Name] = {}  # of values that depend on the inputs

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
        if kind not in TRANSLATIONS:
            raise untraceable(f"operation {kind!r} is not supported")
        arguments = [self.env[entry] if isinstance(entry, Node) else entry for entry in node.args]
        return TRANSLATIONS[kind](Call(self, node, arguments, value))

    def name_of(self, value: Any) -> str:
        """The name of a value: a step or a constant."""
        if isinstance(value, Node) and value in self._names:
            return str(self._names[value])
        return self.add_constant(self.env[value] if isinstance(value, Node) else torch.tensor(float(value)))

    def add_constant(self, constant: Tensor) -> str:
        """Adds a constant unless it is known, and returns its name."""
        for name, known in self.constants.items():
            if known is constant:
                return name
        name = f"weight {len(self.constants)}"
        self.constants[name] = constant
        return name

    def add(self, operation: str, *inputs: str, shape: Any, **params: Any) -> str:
        """Adds an operation and returns the name of its output."""
        name = f"{operation} {len(self.steps)}"
        self.steps.append(Op(name, operation, inputs, tuple(shape), params))
        return name


class Call:
    """One operation of the graph with the values of its arguments and its output."""

    def __init__(self, reader: _Reader, node: Node, arguments: list[Any], value: Any) -> None:
        self.reader, self.node, self.arguments, self.value = reader, node, arguments, value

    def __getitem__(self, index: int) -> Any:
        """The value of an argument, or None."""
        return self.arguments[index] if index < len(self.arguments) else None

    def name(self, index: int) -> str:
        return self.reader.name_of(self.node.args[index])

    def add(self, operation: str, *inputs: str, shape: Any = None, **params: Any) -> str:
        return self.reader.add(
            operation, *inputs, shape=self.value.shape if shape is None else shape, **params
        )


def _unary(operation: str) -> Callable[[Call], str]:
    """An operation of one value."""
    return lambda call: call.add(operation, call.name(0))


def _expand(call: Call) -> str:
    """A repetition along axes of size 1, by adding zeros."""
    if call.value.numel() == call[0].numel():
        return call.add("reshape", call.name(0))
    return call.add("add", call.name(0), call.reader.add_constant(torch.zeros(call.value.shape)))


def _binary(operation: str) -> Callable[[Call], str]:
    """An operation of two values."""

    def translate(call: Call) -> str:
        if call.node.kwargs.get("alpha", 1) != 1:
            raise untraceable("its additions have a scale")
        return call.add(operation, call.name(0), call.name(1))

    return translate


def _multiply_and_add(call: Call) -> str:
    product = call.add("multiply", call.name(1), call.name(2))
    return call.add("add", product, call.name(0))


def _convolution(call: Call) -> str:
    """A convolution as unfold and product, a transposed convolution as product and fold."""
    x, weight, bias, stride, padding, dilation, transposed, output_padding, groups = call.arguments
    pairs = list(zip(weight.shape[2:], stride, padding, strict=True))
    if pairs[0] != pairs[1] or max(dilation) > 1 or any(output_padding) or groups > 1:
        raise untraceable("its convolutions are not square")
    params = dict(zip(("kernel", "stride", "padding"), pairs[0], strict=True))
    kernel = params["kernel"]
    (channels, height, width), (out_channels, *sides) = x.shape[1:], call.value.shape[1:]
    if transposed:
        flat = call.add("reshape", call.name(0), shape=(channels, height * width))
        matrix = call.reader.add_constant(weight.flatten(1).t().contiguous())
        columns = call.add("multiply", matrix, flat, shape=(out_channels * kernel**2, height * width))
        out = call.add("fold", columns, sides=list(sides), **params)
    else:
        patches = call.add(
            "unfold", call.name(0), shape=(channels * kernel**2, sides[0] * sides[1]), **params
        )
        out = call.add("multiply", call.reader.add_constant(weight.flatten(1).contiguous()), patches)
    return out if bias is None else call.add("add", out, call.reader.add_constant(bias[:, None, None]))


def _fold(call: Call) -> str:
    sides, kernels, dilation, paddings, strides = call.arguments[1:]
    kernel, padding, stride = kernels[0], paddings[0], strides[0]
    if [*kernels, *paddings, *strides] != [kernel, kernel, padding, padding, stride, stride] or max(
        dilation
    ) > 1:
        raise untraceable("its patches are not square")
    flat = call.add("reshape", call.name(0), shape=call[0].shape[-2:])
    return call.add("fold", flat, sides=list(sides), kernel=kernel, stride=stride, padding=padding)


def _split(call: Call) -> Name:
    """One value per part of a split."""
    axis, start, parts = (call[2] or 0) % call[0].ndim, 0, []
    for part in call.value:
        indices = list(range(start, start + part.shape[axis]))
        parts.append(call.add("take", call.name(0), shape=part.shape, axis=axis, indices=indices))
        start += part.shape[axis]
    return parts


def _unbind(call: Call) -> Name:
    axis = (call[1] or 0) % call[0].ndim
    return [
        call.add("take", call.name(0), shape=part.shape, axis=axis, indices=[index])
        for index, part in enumerate(call.value)
    ]


def _slice(call: Call) -> str:
    axis = (call[1] or 0) % call[0].ndim
    indices = list(range(call[0].shape[axis]))[slice(call[2], call[3], call[4])]
    return call.add("take", call.name(0), axis=axis, indices=indices)


def _take(call: Call) -> str:
    if call.node.args[2] in call.reader._names:
        raise untraceable("it looks up values by computed indices")
    return call.add("take", call.name(0), axis=call[1] % call[0].ndim, indices=call[2].tolist())


def _join(call: Call) -> str:
    names = [call.reader.name_of(entry) for entry in call.node.args[0]]  # type: ignore[union-attr]
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
    blocks = (channels // factor**2, factor, factor, height, width)
    order = [0, 3, 1, 4, 2]
    split = call.add("reshape", call.name(0), shape=blocks)
    permuted = call.add("permute", split, shape=[blocks[index] for index in order], order=order)
    return call.add("reshape", permuted)


TRANSLATIONS: Mapping[str, Callable[[Call], Name]] = {
    **{name: _unary("reshape") for name in ("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze")},
    **{name: _unary("reshape") for name in ("clone", "_to_copy", "detach", "alias", "contiguous")},
    "expand": _expand,
    "relu": _unary("relu"),
    "tanh": _unary("tanh"),
    "sigmoid": _unary("sigmoid"),
    "exp": _unary("exp"),
    "rsqrt": _unary("rsqrt"),
    "atan": _unary("atan"),
    "neg": _unary("negative"),
    "leaky_relu": lambda call: call.add("leaky", call.name(0), slope=call[1] or 0.01),
    "clamp": lambda call: call.add("clamp", call.name(0), min=call[1], max=call[2]),
    "add": _binary("add"),
    "sub": _binary("subtract"),
    "mul": _binary("times"),
    "div": _binary("divide"),
    "eq": _binary("equal"),
    "mm": lambda call: call.add("multiply", call.name(0), call.name(1)),
    "addmm": _multiply_and_add,
    "convolution": _convolution,
    "col2im": _fold,
    "native_batch_norm": batch_norm,
    "_native_batch_norm_legit_no_training": batch_norm,
    "native_group_norm": group_norm,
    "split": _split,
    "split_with_sizes": _split,
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
