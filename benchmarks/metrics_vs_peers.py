"""Our metrics beside disent's on the same arrays: both values, both times, the ratio.

    python benchmarks/metrics_vs_peers.py             # 10,000 training and 5,000 test samples
    python benchmarks/metrics_vs_peers.py --quick     # 1,000 and 500
    python benchmarks/metrics_vs_peers.py --json

Installs `disent` 0.8.0 into a throw-away environment in a temporary folder, which sees this interpreter's
packages, and removes it at the end. disent imports torchvision and Lightning for its datasets; its metrics
need neither, so both are replaced by mocks. disent draws its own samples of a dataset: it is given one whose
images say their place on the factor grid and a represent function that looks the codes up and writes the
places down, and ours then score the same samples. Only the votes of the FactorVAE score are drawn apart.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

from unbraid import metrics

SIZES = (3, 6, 10, 8, 8)  # a grid small enough to hold as a table
CODES = 6
PEER = "disent==0.8.0"

PEER_SCRIPT = """
import importlib.abc, importlib.machinery, json, sys, time
from unittest.mock import MagicMock
import torch

class Mocks(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    names = ("torchvision", "pytorch_lightning", "lightning", "hydra", "omegaconf", "wandb")
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        module = MagicMock(name=spec.name)
        module.__path__ = []
        module.__spec__ = spec
        module.LightningModule = torch.nn.Module  # disent derives classes from these
        module.LightningDataModule = object
        return module
    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Mocks())
import numpy as np
for name, kind in (("int", int), ("float", float), ("bool", bool), ("object", object)):
    if name not in np.__dict__:
        setattr(np, name, kind)  # removed from NumPy since disent 0.8.0
from disent import metrics as peer
from disent.dataset import DisentDataset
from disent.dataset.data import GroundTruthData

archive = np.load(sys.argv[1])
sizes, table = tuple(int(s) for s in archive["sizes"]), archive["codes"]
n, n_test, votes, test_votes = (int(a) for a in sys.argv[2:6])

class Table(GroundTruthData):
    name = "table"
    factor_names = tuple(f"factor {k}" for k in range(len(sizes)))
    factor_sizes = sizes
    img_shape = (1, 1, 1)
    def _get_observation(self, idx):
        return np.full((1, 1, 1), idx, dtype=np.float64)

data = DisentDataset(Table(transform=lambda x: torch.as_tensor(x, dtype=torch.float64)))
seen = []
def represent(x):
    places = x.reshape(len(x)).long().numpy()
    seen.extend(places.tolist())
    return torch.as_tensor(table[places])

works = {
    "mig": lambda: peer.metric_mig(data, represent, num_train=n),
    "sap": lambda: peer.metric_sap(data, represent, num_train=n, num_test=n_test),
    "dci": lambda: peer.metric_dci(data, represent, num_train=n, num_test=n_test, boost_mode="sklearn"),
    "factor_vae_score": lambda: peer.metric_factor_vae(
        data, represent, num_train=votes, num_eval=test_votes, num_variance_estimate=votes),
}
keys = {"mig": "mig.discrete_score", "sap": "sap.score", "dci": "dci.disentanglement",
        "factor_vae_score": "factor_vae.eval_accuracy"}
results = {}
for name, work in works.items():
    np.random.seed(0)
    seen.clear()
    start = time.perf_counter()
    try:
        scores = work()
        results[name] = {"score": float(scores.get(keys[name], next(iter(scores.values())))),
                         "keys": {k: float(v) for k, v in scores.items() if np.isscalar(v)},
                         "seconds": time.perf_counter() - start,
                         "places": seen[:n + n_test]}
    except Exception as error:
        results[name] = {"error": f"{type(error).__name__}: {error}"}
print("RESULT" + json.dumps(results))
"""


def codes_on_grid(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    grid = np.indices(SIZES).reshape(len(SIZES), -1).T
    scaled = (grid - grid.mean(axis=0)) / grid.std(axis=0)
    mixing = np.eye(len(SIZES), CODES) + 0.3 * rng.standard_normal((len(SIZES), CODES))
    return scaled @ mixing + 0.2 * rng.standard_normal((len(grid), CODES))


def run_peer(codes: np.ndarray, arguments: list[int]) -> dict:
    """disent's scores, from its own environment in a folder that is then removed."""
    with tempfile.TemporaryDirectory() as folder:
        builder = venv.EnvBuilder(with_pip=True)
        builder.create(folder)
        python = Path(folder, "Scripts" if sys.platform == "win32" else "bin", "python")
        packages = Path(np.__file__).parent.parent
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        # Only disent itself: what it computes with is taken from here, the rest is mocked.
        subprocess.run([*pip, "--no-deps", PEER], check=True)
        site = subprocess.run(
            [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        Path(site, "ours.pth").write_text(str(packages))
        np.savez(Path(folder, "codes.npz"), codes=codes, sizes=SIZES)
        Path(folder, "peer.py").write_text(PEER_SCRIPT)
        command = [str(python), str(Path(folder, "peer.py")), str(Path(folder, "codes.npz"))]
        done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith("RESULT"):
                return json.loads(line.removeprefix("RESULT"))
        raise SystemExit(f"disent did not run:\n{done.stderr[-2000:]}")


def run_ours(codes: np.ndarray, theirs: dict, n: int, n_test: int, votes: int, test_votes: int) -> dict:
    """Our scores of the samples disent drew for the same metric."""
    rng = np.random.default_rng(0)
    anything = rng.integers(len(codes), size=n + n_test)
    results = {}
    for name in ("mig", "sap", "dci", "factor_vae_score"):
        places = np.array(theirs[name].get("places", anything))
        factors = np.stack(np.unravel_index(places, SIZES), axis=1)
        train = codes[places[:n]], factors[:n]
        split = {"test_codes": codes[places[n:]], "test_factors": factors[n:]}
        start = time.perf_counter()
        if name == "mig":
            score = metrics.mig(*train).score
        elif name == "sap":
            score = metrics.sap(*train, **split).score
        elif name == "dci":
            score = metrics.dci(*train, **split, rng=rng).score
        else:
            result = metrics.factor_vae_score(codes, SIZES, rng=rng, votes=votes, test_votes=test_votes)
            score = result.score
        results[name] = {"score": score, "seconds": time.perf_counter() - start}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples and votes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    sizes = [10_000, 5_000, 10_000, 5_000]
    if options.quick:
        sizes = [size // 10 for size in sizes]
    codes = codes_on_grid()
    theirs = run_peer(codes, sizes)
    ours = run_ours(codes, theirs, *sizes)
    for their in theirs.values():
        their.pop("places", None)
    if options.json:
        print(json.dumps({"sizes": sizes, "ours": ours, "disent": theirs}, indent=1))
        return
    print(
        f"n = {sizes[0]}, {sizes[1]} test samples; {sizes[2]} votes, {sizes[3]} test votes; factors {SIZES}"
    )
    print(f"{'metric':18} {'disent':>9} {'ours':>9} {'disent s':>10} {'ours s':>10} {'ratio':>8}")
    for name, our in ours.items():
        their = theirs[name]
        if "error" in their:
            print(
                f"{name:18} {'-':>9} {our['score']:9.4f} {'-':>10} {our['seconds']:10.3f}  {their['error']}"
            )
            continue
        times = f"{their['seconds']:10.3f} {our['seconds']:10.3f} {their['seconds'] / our['seconds']:8.1f}"
        print(f"{name:18} {their['score']:9.4f} {our['score']:9.4f} {times}")


if __name__ == "__main__":
    main()
