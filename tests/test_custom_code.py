"""Code of users: references, naming, hashes and entry points, src/unbraid/custom_code.py."""

import sys
from pathlib import Path

import pytest

from unbraid import custom_code
from unbraid.custom_code import (
    digest,
    is_reference,
    known,
    plain_name,
    plugin,
    plugins,
    reference,
    require_known,
    use,
)

SOURCE = """
from sibling import BASE

SCALE = 2.0

def scaled(x):
    return SCALE * x

class Metric:
    def __call__(self, codes):
        return scaled(float(len(codes))) + BASE

def unrelated():
    return 1
"""


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom_code, "_named", {})
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "sibling.py").write_text("BASE = 1.0\n")
    (tmp_path / "mine.py").write_text(SOURCE)
    return tmp_path / "mine.py"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("own.py:DecorVAE", True),
        ("a/b c/own.py:DecorVAE", True),
        ("package.module:Name", True),
        ("beta-vae", False),
        ("images/", False),
        ("own.py", False),
        ("own.py:2nd", False),
    ],
)
def test_what_a_reference_is(text: str, is_one: bool) -> None:
    assert is_reference(text) == is_one


def test_a_plain_name_drops_the_file() -> None:
    assert (plain_name("a/own.py:DecorVAE"), plain_name("beta-vae")) == ("DecorVAE", "beta-vae")


def test_code_is_known_once_it_was_used_and_not_before(file: Path) -> None:
    assert known("mine.py:Metric") is None
    code = use(f"{file}:Metric")
    assert code()([1, 2]) == 5.0
    assert known("mine.py:Metric") is known("Metric") is known(f"{file}:Metric") is code
    assert reference(code) == "mine.py:Metric"  # without the folder


def test_a_file_is_imported_once(file: Path) -> None:
    assert use(f"{file}:Metric") is use(f"{file}:Metric")


def test_two_files_of_one_name_are_refused(file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.py").write_text("class Metric: ...")
    use(f"{file}:Metric")
    with pytest.raises(ValueError, match=r"Two different files are named mine\.py: .* Rename one"):
        use(f"{tmp_path / 'other' / 'mine.py'}:Metric")


def test_mistakes_get_one_sentence(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mine\.py has no 'Metrik'; it defines .*Metric"):
        use(f"{file}:Metrik")
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nowhere\.py"):
        use(f"{tmp_path}/nowhere.py:Metric")
    (tmp_path / "broken.py").write_text("import no_such_module_at_all\nclass A: ...")
    with pytest.raises(ValueError, match=r"broken\.py cannot be imported: ModuleNotFoundError"):
        use(f"{tmp_path}/broken.py:A")
    with pytest.raises(ValueError, match=r"module no_such\.package cannot be imported"):
        use("no_such.package:A")
    with pytest.raises(ValueError, match=r"file\.py:Name or package\.module:Name; got 'beta-vae'"):
        use("beta-vae")


def test_code_that_was_not_named_is_refused_with_what_to_add() -> None:
    with pytest.raises(ValueError, match=r"runs/a uses your own code, own\.py:A, .* --method PATH/own\.py:A"):
        require_known("own.py:A", option="--method", owner="runs/a")


def test_the_hash_counts_what_the_code_uses(file: Path, tmp_path: Path) -> None:
    """Its own text and, through names, `scaled` and `SCALE`; not comments, and not `unrelated`."""

    def hash_of(source: str, name: str) -> str | None:
        (tmp_path / f"{name}.py").write_text(source)
        return digest(use(f"{tmp_path / name}.py:Metric"))

    first = hash_of(SOURCE, "first")
    assert first == hash_of("# a comment\n" + SOURCE.replace("return 1", "return 2"), "second")
    assert first != hash_of(SOURCE.replace("SCALE = 2.0", "SCALE = 3.0"), "third")
    assert first != hash_of(SOURCE.replace("float(len", "1 + float(len"), "fourth")


def test_code_without_a_source_has_no_hash() -> None:
    assert digest(len) is None


def install(folder: Path, name: str, group: str, entry: str, module: str) -> None:
    """Puts an installed package with one entry point into a folder of `sys.path`."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    (folder / f"{name}_code.py").write_text(module)
    sys.path.append(str(folder))
    custom_code.plugin.cache_clear()
    custom_code._entry_points.cache_clear()


def test_a_package_registers_code_by_name(tmp_path: Path) -> None:
    install(tmp_path, "roughly", "unbraid.test", "rough = roughly_code:rough", "def rough(): return 3")
    found = plugin("unbraid.test", "rough")
    assert found is not None and (found.name, found.package, found.code()) == ("rough", "roughly", 3)
    assert custom_code.plugin_name("unbraid.test", found.code) == "rough"
    assert custom_code.plugin_name("unbraid.test", install) is None
    assert plugin("unbraid.test", "smooth") is None


def test_a_package_that_fails_to_import_is_named_and_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, "brittle", "unbraid.test", "bad = brittle_code:bad", "import no_such_module_at_all")
    assert plugins("unbraid.test") == {}
    assert "bad of the package brittle is skipped, because its import fails (ModuleNotFoundError" in (
        capsys.readouterr().err
    )
