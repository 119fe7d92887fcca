"""Odd command lines of `unbraid`: quick ones that are right, with one to three things wrong. The same seed gives the
same lines.

    places = Path("places"); prepare(places)
    lines = command_lines(random.Random(0))
    subprocess.run([sys.executable, "-m", "unbraid", *next(lines)], cwd=places, env=os.environ | ENVIRONMENT, …)

Some lines ask for more memory than there is: limit the memory of the process. A line ends within a minute when it is
refused and also when it happens to be right: it starts no server, downloads nothing, opens no browser and asks for no
long training.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

ENVIRONMENT = {"BROWSER": "true", "UNBRAID_DATA": "data-root", "OMP_NUM_THREADS": "1"}
NUMBERS = (
    *("0", "-0", "-1", "1", "2", "3", "0.5", "-0.0", "1e-320", "1e9", "2147483648", "9223372036854775807"),
    *(
        "9223372036854775808",
        "-99999999999999999999",
        "1" + "0" * 400,
        "1e400",
        "-1e400",
        "nan",
        "inf",
        "-inf",
    ),
    *(
        "Infinity",
        "1_000",
        "1__0",
        "１",
        "٣",
        "½",
        "0x10",
        "0b1",
        "1e3",
        "1.0",
        "1,5",
        "1 ",
        " 1",
        "+1",
        "1j",
        "true",
    ),
)
TEXTS = (
    *(
        "",
        " ",
        "-",
        "--",
        "\t",
        "\n",
        "a\nb",
        "'",
        '"',
        "%s",
        "{}",
        "$HOME",
        "~",
        "*",
        "\\",
        "None",
        "null",
        "β",
        "数",
        "🙂",
    ),
    *(
        "\u202e",
        "\x1b[31m",
        "\udcff",
        "a" * 5000,
        ",",
        ",,,",
        ":",
        "::",
        "=",
        "a=b",
        "a:b",
        "constant:nan",
        "linear:1",
    ),
    *(
        "linear:1:2:1e400",
        "step:1:2:3:4",
        "adam:-1",
        "adam:nan",
        "normal:0",
        "normal:inf",
        "adam:1:2:3:4:5:6",
        "1:2:3",
    ),
    *(
        "nothing.py:Nothing",
        "text.txt:f",
        "os:system",
        "unbraid.nn:MLP",
        "own.py:missing",
        "own.py:",
        ":f",
        "overlay:mlp",
    ),
    *(
        "all",
        "mig",
        "mig,mig",
        "mig,",
        "codes:mig",
        "nothing:mig",
        "strand:",
        "mig.worst",
        "sprites",
        "beta-vae",
    ),
)
PATHS = (
    *(
        "run",
        "study",
        "images",
        "images/a.png",
        "codes.npz",
        "factors.npz",
        "rows.csv",
        "plan.json",
        "text.txt",
    ),
    *(
        "empty",
        "empty.npz",
        "random.npz",
        "random.png",
        "tiny.py",
        "broken.py",
        "own.py",
        "list.json",
        "deep.json",
    ),
    *(
        ".",
        "..",
        "/",
        "missing",
        "missing/missing",
        "text.txt/inside",
        "run/run.json",
        "loop",
        "/proc/missing/x",
    ),
    *("made/x.csv", "made/x.xyz", "made/x", "made/x.PNG", "made/.png", "made/.", "images/", "missing/x.html"),
    *(
        "a" * 300,
        "a/" * 2500 + "a",
        "\udcff.npz",
        "made/\udcff.html",
        "-",
        "--out",
        "",
        " ",
        "~",
        "made/a\nb.png",
    ),
)
WORDS = (*NUMBERS, *TEXTS, *PATHS)
# What a line that is right may ask for without limit: a large number there would be a long command, not a fault.
UNLIMITED = {"--steps", "--epochs", "--num-nodes", "--devices", "--workers", "--population", "--ray-address"}
NEVER = {"--serve", "--allow-remote", "--open", "--ray-address", "--num-nodes", "--logger"}
MISSPELLED: tuple[Callable[[str], str], ...] = (
    lambda option: option[:-1],
    lambda option: option + "s",
    lambda option: option.replace("-", "_"),
    lambda option: option[:3] + option[4:],
    str.upper,
    lambda option: option.replace("--", "-", 1),
    lambda option: option.replace("--", "—", 1),
    lambda option: "--no-" + option[2:],
    lambda option: "--data." + option[2:],
    lambda option: "--nobody." + option[2:],
    lambda option: option + "=",
    lambda option: option + "=" + option,
)


def prepare(folder: Path) -> None:
    """Makes the files that the command lines name: a run, a study, images, tables, and damaged things."""
    import numpy as np
    from PIL import Image

    from unbraid.recipes import Recipe
    from unbraid.studies import Plan, replace, study

    for name in ("images", "empty", "made", "data-root"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, gray in (("a.png", 40), ("b.png", 200)):
        Image.fromarray(np.full((50, 40, 3), gray, np.uint8)).save(folder / "images" / name)
    numbers = np.random.default_rng(0)
    np.savez(folder / "codes.npz", codes=numbers.normal(size=(200, 3)))
    np.savez(folder / "factors.npz", factors=numbers.integers(3, size=(200, 2)))
    rows = [",".join(f"{number:.3f}" for number in row) for row in numbers.normal(size=(60, 4))]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    options = {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small", "steps": 2, "batch_size": 4}
    plan = Plan("beta-vae", "sprites", options, metrics=("reconstruction",), evaluation={"num_samples": 60})
    plan.run(folder / "run", device="cpu", quiet=True)
    study(
        Recipe("tiny.py", "Tiny.", (plan, replace(plan, seed=1)), {}),
        folder / "study",
        device="cpu",
        quiet=True,
    )
    (folder / "plan.json").write_text(
        json.dumps({"method": "beta-vae", "data": "sprites", "options": options})
    )
    (folder / "list.json").write_text("[1]")
    (folder / "deep.json").write_text("[" * 100_000)
    for name, changes in PLANS.items():
        plan_text = {"method": "beta-vae", "data": "sprites", "options": options}
        plan_text |= changes | {"options": options | changes.get("options", {})}
        (folder / f"plan-{name}.json").write_text(json.dumps(plan_text))
    (folder / "tiny.py").write_text(RECIPE)
    (folder / "broken.py").write_text("import nothing_of_that_name\n")
    (folder / "own.py").write_text("def dataset(size: int = 3):\n    return None\n")
    (folder / "text.txt").write_text("Some text.\n")
    (folder / "empty.npz").write_bytes(b"")
    (folder / "random.npz").write_bytes(numbers.bytes(2000))
    (folder / "random.png").write_bytes(numbers.bytes(2000))
    if not (folder / "loop").is_symlink():
        (folder / "loop").symlink_to("loop")


PLANS: dict[str, dict[str, Any]] = {  # what is wrong in a plan
    "nul": {"data": "a\0b"},
    "surrogate": {"data": "\ud800"},
    "number": {"method": 1},
    "data": {"data": ["sprites"]},
    "null": {"options": {"beta": None, "steps": None}},
    "list": {"options": {"latent_dim": [1, 2]}},
    "object": {"options": {"latent_dim": {"a": {"b": 1}}}},
    "text": {"options": {"latent_dim": "three"}},
    "huge": {"options": {"latent_dim": 10**30}},
    "float": {"options": {"latent_dim": 2.5}},
    "bool": {"options": {"latent_dim": True, "antialias": "maybe"}},
    "nan": {"options": {"beta": float("nan")}},
    "spec": {"options": {"optimizer": {"spec": "os:system"}}},
    "network": {"options": {"encoder": {"network": "os.system", "arguments": {}}}},
    "dashes": {"options": {"--out": "x", "": 1}},
    "options": {"options": {"out": "elsewhere", "resume": True}},
    "metrics": {"metrics": 3, "evaluation": [1]},
    "draw": {"draw": "own.py:Missing"},
}
RECIPE = '''"""A tiny recipe."""

from unbraid.studies import Plan

OPTIONS = {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small", "steps": 2, "batch_size": 4}
runs = [Plan("beta-vae", "sprites", OPTIONS, metrics=("reconstruction",), evaluation={"num_samples": 60})]
'''


def command_lines(rng: random.Random) -> Iterator[list[str]]:
    """Endlessly many odd command lines, without `unbraid`, for a folder that `prepare` has filled."""
    commands = _options_of_commands()
    table = _option_table()
    number = 0
    while True:
        number += 1
        name = rng.choice([*QUICK, "train", "train", "train"])
        words = list(_training(rng, table)) if name == "train" else QUICK[name](number)
        if name == "train":
            words += ["--out", f"made/{number}"]
        known = _known_options(words, commands, table)
        everybody = sorted({option for options in commands.values() for option in options} - NEVER)
        for _ in range(rng.choice([1, 1, 2, 3])):
            words = _mutated(rng, words, known, everybody)
        yield (
            [*words, "--out", "text.txt"] if words[:1] == ["demo"] else words
        )  # the demo itself takes minutes


# Lines that are right and quick, by command; `number` gives each its own output.
QUICK: dict[str, Callable[[int], list[str]]] = {
    "list": lambda number: ["list", "methods"],
    "evaluate": lambda number: [
        "evaluate",
        "run",
        "--metrics",
        "kl",
        "--num-samples",
        "60",
        "--device",
        "cpu",
    ],
    "score": lambda number: ["score", "codes.npz", "factors.npz", "--metrics", "mig"],
    "study": lambda number: ["study", "tiny.py", "--out", f"made/{number}", "--device", "cpu"],
    "encode": lambda number: ["encode", "run", "images", "--out", f"made/{number}.npz"],
    "edit": lambda number: ["edit", "run", "images/a.png", "--zero", "0", "--out", f"made/{number}.png"],
    "report": lambda number: ["report", "run", "--out", f"made/{number}.html"],
    "report study": lambda number: ["report", "study", "--print-table", "md"],
    "export": lambda number: ["export", "run", "--format", "safetensors", "--out", f"made/{number}"],
    "explore": lambda number: [
        "explore",
        "run",
        "--examples",
        "4",
        "--no-open",
        "--out",
        f"made/{number}.html",
    ],
    "compare": lambda number: ["compare", "study"],
    "compare runs": lambda number: ["compare", "run", "run"],
    "select": lambda number: ["select", "study", "--by", "udr", "--num-samples", "60"],
    "data check": lambda number: ["data", "check", "sprites"],
    "data download": lambda number: ["data", "download", "sprites"],
    "demo": lambda number: ["demo", "--out", "text.txt"],
}


def _training(rng: random.Random, table: dict[str, Any]) -> list[str]:
    short = ("--steps", "2", "--batch-size", "4", "--device", "cpu", "--quiet")
    if rng.random() < 0.6:
        small = ("--image-size", "16", "--latent-dim", "3", "--architecture", "mlp-small")
        return ["train", "beta-vae", "--data", "sprites", *small, *short]
    if rng.random() < 0.25:
        return [
            "train",
            "--config",
            rng.choice(["plan.json", *(f"plan-{name}.json" for name in PLANS), *PATHS]),
            "--quiet",
        ]
    data = rng.choice(
        [*sorted(table["datasets"]), "rows.csv", "images", "images/a.png", "random.npz", "own.py:dataset"]
    )
    return ["train", rng.choice(sorted(table["methods"])), "--data", data, *short]


def _mutated(rng: random.Random, words: list[str], known: list[str], everybody: list[str]) -> list[str]:
    """The line with one thing wrong."""
    words = list(words)
    places = range(1, len(words))
    kind = rng.randrange(14)
    if (kind <= 2 or kind >= 10) and known:  # a value of an option of this command
        option = rng.choice(known)
        values = rng.choice([NUMBERS, NUMBERS, TEXTS, PATHS])
        value = rng.choice([word for word in values if not (option in UNLIMITED and _is_large(word))])
        words += [f"{option}={value}"] if rng.random() < 0.3 else [option, value]
    elif kind == 3 and places:  # another word in the place of one
        index = rng.choice(places)
        if words[index - 1] not in UNLIMITED and words[0] != "demo" and words[:2] != ["data", "download"]:
            words[index] = rng.choice(WORDS)
    elif (
        kind == 4 and len(words) > 2 and words[0] not in ("demo", "explore", "train", "data")
    ):  # a word missing
        del words[rng.choice(places)]
    elif kind == 5 and known:  # a value missing, or an option in the middle of another
        words.insert(rng.randrange(1, len(words) + 1), rng.choice(known))
    elif kind == 6:  # an option of another command
        words += [rng.choice(everybody), rng.choice(WORDS)]
    elif kind == 7 and known:  # a misspelled option
        words += [rng.choice(MISSPELLED)(rng.choice(known)), rng.choice(WORDS)]
    elif kind == 8:  # given twice, or too many
        start = rng.choice(places) if places else 0
        words += words[start : start + 2]
    else:
        words.insert(rng.randrange(len(words) + 1), rng.choice(WORDS))
    return words


def _is_large(word: str) -> bool:
    try:
        return float(word) > 3
    except ValueError:
        return False


def _options_of_commands() -> dict[str, list[str]]:
    """The options of every command but train."""
    from unbraid.cli.main import app

    group: Any = get_command(app)
    subcommands = {f"data {name}": command for name, command in group.commands["data"].commands.items()}
    commands = {name: command for name, command in group.commands.items() if name not in ("data", "train")}
    return {
        name: [
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        ]
        for name, command in (commands | subcommands).items()
    }


def _option_table() -> dict[str, Any]:
    """The options of methods and datasets, as help has them."""
    from unbraid.cli import option_table

    return json.loads(Path(option_table.__file__).with_name("option_table.json").read_text("utf-8"))


def _known_options(words: list[str], commands: dict[str, list[str]], table: dict[str, Any]) -> list[str]:
    """The options of the command in a line that may be mutated."""
    if words[0] != "train":
        options = commands.get(" ".join(words[:2])) or commands.get(words[0], [])
    else:
        from unbraid.cli.train import COMMON

        method = table["methods"].get(words[1], {})
        datasets = table["datasets"].get(words[3] if len(words) > 3 else "", [])
        rows = [
            *method.get("method", []),
            *method.get("draw", []),
            *table["training"],
            *table["network"],
            *datasets,
        ]
        options = ["--" + name.replace("_", "-") for name in (*COMMON, *(row[0] for row in rows))]
    return [option for option in options if option.startswith("--") and option not in NEVER]
