"""Python that uses exported files, to be run in their folder."""

from collections.abc import Mapping
from typing import Any


def onnx_snippet(description: Mapping[str, Any]) -> str:
    """Uses the files with ONNX Runtime only."""
    condition = ', "condition": condition' if "condition" in description["input"] else ""
    lines = [
        "import numpy as np",
        "import onnxruntime",
        "",
        *_inputs(description),
        'encoder = onnxruntime.InferenceSession("encoder.onnx")',
        "names = [output.name for output in encoder.get_outputs()]",
        f'outputs = dict(zip(names, encoder.run(None, {{"observations": observations{condition}}})))',
        'codes = outputs["codes"]',
    ]
    if description["decoder"]:
        lines += [
            'decoder = onnxruntime.InferenceSession("decoder.onnx")',
            f'(decoded,) = decoder.run(None, {{"codes": codes{condition}}})',
        ]
    return "\n".join(lines)


def torchscript_snippet(description: Mapping[str, Any]) -> str:
    """Uses the files with torch only."""
    condition = ", torch.from_numpy(condition)" if "condition" in description["input"] else ""
    lines = [
        "import numpy as np",
        "import torch",
        "",
        *_inputs(description),
        'encoder = torch.jit.load("encoder.pt")',
        f"outputs = encoder(torch.from_numpy(observations){condition})",
        'codes = outputs["codes"]',
    ]
    if description["decoder"]:
        lines += ['decoder = torch.jit.load("decoder.pt")', f"decoded = decoder(codes{condition})"]
    return "\n".join(lines)


def weights_snippet(description: Mapping[str, Any]) -> str:
    """Loads the folder with Unbraid."""
    return _load(description, ["import unbraid"], '"."')


def hub_snippet(description: Mapping[str, Any]) -> str:
    """Loads the model from the Hugging Face Hub with Unbraid; OWNER/NAME is its repository."""
    imports = ["import unbraid", "from huggingface_hub import snapshot_download"]
    return _load(description, imports, 'snapshot_download("OWNER/NAME")')


def _load(description: Mapping[str, Any], imports: list[str], folder: str) -> str:
    conditional = "condition" in description["input"]
    condition = ", condition=torch.from_numpy(condition)" if conditional else ""
    lines = [
        "import numpy as np",
        *(["import torch"] if conditional else []),
        *imports,
        "",
        *_inputs(description),
        f"model = unbraid.load({folder})",
        f"codes = model.encode(observations{condition})",
    ]
    if description["decoder"]:
        lines += [f"decoded = model.decode(codes{condition})"]
    return "\n".join(lines)


def _inputs(description: Mapping[str, Any]) -> list[str]:
    """Lines that create inputs of the right form, to be replaced with real ones."""
    shape = description["data"]["shape"]
    if len(shape) == 3:
        channels, height, width = shape
        lines = [f"observations = np.zeros((1, {height}, {width}, {channels}), np.uint8)  # your images"]
    else:
        lines = [f"observations = np.zeros((1, {shape[0]}))  # your rows"]
    if condition := description["input"].get("condition", ""):
        size = "1" if "(n,)" in condition else f"(1, {len(description['method']['arguments']['nuisances'])})"
        lines.append(f"condition = np.zeros({size}, np.int64)  # your labels or nuisances, see below")
    return lines
