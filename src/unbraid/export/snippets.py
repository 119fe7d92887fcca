"""Python that uses exported files, to be run in the folder they lie in."""

from collections.abc import Mapping
from typing import Any


def onnx_snippet(described: Mapping[str, Any]) -> str:
    """ONNX Runtime alone."""
    given = ', "given": given' if "given" in described["input"] else ""
    lines = [
        "import numpy as np",
        "import onnxruntime",
        "",
        *_inputs(described),
        'encoder = onnxruntime.InferenceSession("encoder.onnx")',
        "names = [output.name for output in encoder.get_outputs()]",
        f'outputs = dict(zip(names, encoder.run(None, {{"observations": observations{given}}})))',
        'codes = outputs["codes"]',
    ]
    if described["decoder"]:
        lines += [
            'decoder = onnxruntime.InferenceSession("decoder.onnx")',
            f'(decoded,) = decoder.run(None, {{"codes": codes{given}}})',
        ]
    return "\n".join(lines)


def torchscript_snippet(described: Mapping[str, Any]) -> str:
    """Torch alone."""
    given = ", torch.from_numpy(given)" if "given" in described["input"] else ""
    lines = [
        "import numpy as np",
        "import torch",
        "",
        *_inputs(described),
        'encoder = torch.jit.load("encoder.pt")',
        f"outputs = encoder(torch.from_numpy(observations){given})",
        'codes = outputs["codes"]',
    ]
    if described["decoder"]:
        lines += ['decoder = torch.jit.load("decoder.pt")', f"decoded = decoder(codes{given})"]
    return "\n".join(lines)


def weights_snippet(described: Mapping[str, Any]) -> str:
    """Unbraid, from the folder."""
    return _load(described, ["import unbraid"], '"."')


def hub_snippet(described: Mapping[str, Any]) -> str:
    """Unbraid, from the Hub; OWNER/NAME is where the folder was put."""
    imports = ["import unbraid", "from huggingface_hub import snapshot_download"]
    return _load(described, imports, 'snapshot_download("OWNER/NAME")')


def _load(described: Mapping[str, Any], imports: list[str], folder: str) -> str:
    conditional = "given" in described["input"]
    given = ", given=torch.from_numpy(given)" if conditional else ""
    lines = [
        "import numpy as np",
        *(["import torch"] if conditional else []),
        *imports,
        "",
        *_inputs(described),
        f"model = unbraid.load({folder})",
        f"codes = model.encode(observations{given})",
    ]
    return "\n".join([*lines, *([f"decoded = model.decode(codes{given})"] if described["decoder"] else [])])


def _inputs(described: Mapping[str, Any]) -> list[str]:
    """Lines that make inputs of the right form, for one's own to take the place of."""
    shape = described["data"]["shape"]
    if len(shape) == 3:
        channels, height, width = shape
        lines = [f"observations = np.zeros((1, {height}, {width}, {channels}), np.uint8)  # your images"]
    else:
        lines = [f"observations = np.zeros((1, {shape[0]}))  # your rows"]
    if said := described["input"].get("given", ""):
        size = "1" if "(n,)" in said else f"(1, {len(described['method']['arguments']['nuisances'])})"
        lines.append(f"given = np.zeros({size}, np.int64)  # what the method is given: see below")
    return lines
