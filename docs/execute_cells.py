"""Runs the cells of a notebook and stores what they show: `python docs/execute_cells.py NOTEBOOK.ipynb`.

It understands what the notebooks of this documentation contain: Python, lines that start with `!` (commands), and
`%%writefile NAME` (the cell is a file). Cells run in the current folder, in one process, with its Python.
"""

import ast
import base64
import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

JSON = dict[str, Any]
COLUMNS = "100"


def text_of(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def picture(png: bytes) -> JSON:
    return {"image/png": base64.b64encode(png).decode()}


def shown(value: object) -> JSON:
    """A value as a notebook shows it: a picture, HTML, or text."""
    data: JSON = {"text/plain": repr(value)}
    if hasattr(value, "_repr_png_"):  # a PIL image
        return data | picture(value._repr_png_())
    if hasattr(value, "_repr_html_"):
        return data | {"text/html": value._repr_html_()}
    return data


def drawn() -> Iterator[JSON]:
    """The open figures of matplotlib, which are closed."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    import matplotlib.pyplot as plt

    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, format="png", dpi=110, bbox_inches="tight")
        yield picture(file.getvalue())
    plt.close("all")


def run_python(code: str, names: JSON) -> list[JSON]:
    """The outputs of a cell: what it prints, the value of its last expression, and its figures."""
    tree, printed, values = ast.parse(code), io.StringIO(), []
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            values = [] if value is None else [shown(value)]
    outputs: list[JSON] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    values += [data | {"text/plain": "Figure"} for data in drawn()]
    return outputs + [{"output_type": "display_data", "data": data, "metadata": {}} for data in values]


def run_commands(lines: list[str]) -> list[JSON]:
    """The output of commands, which must all succeed, without the progress in between."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": COLUMNS, "NO_COLOR": "1"}
    text = ""
    for line in lines:
        done = subprocess.run(
            line, shell=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{line}\nexit code {done.returncode}\n{done.stdout}")
        text += "".join(kept for kept in done.stdout.splitlines(True) if not kept.endswith(" left\n"))
    return [{"output_type": "stream", "name": "stdout", "text": text}] if text else []


def run_cell(code: str, names: JSON) -> list[JSON]:
    first, _, rest = code.partition("\n")
    if first.startswith("%%writefile "):
        Path(first.split()[1]).write_text(rest)
        return []
    if first.startswith("!"):
        return run_commands([line.removeprefix("!") for line in code.splitlines() if line])
    return run_python(code, names)


def execute(notebook: JSON) -> None:
    """Runs every code cell, and stores the outputs in the notebook."""
    os.environ.setdefault("MPLBACKEND", "agg")
    import matplotlib.pyplot as plt

    plt.show = lambda *_, **__: None  # figures are stored at the end of the cell
    sys.path.insert(0, "")
    names: JSON = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(cells, 1):
        code = text_of(cell["source"])
        try:
            cell["outputs"] = run_cell(code, names)
        except Exception:
            raise SystemExit(f"cell {count} failed:\n{code}\n\n{traceback.format_exc()}") from None
        cell["execution_count"] = count


if __name__ == "__main__":
    notebook_path = Path(sys.argv[1])
    content = json.loads(notebook_path.read_text())
    execute(content)
    notebook_path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
