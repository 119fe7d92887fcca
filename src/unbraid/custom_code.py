"""Your own methods, datasets, draws, networks and metrics, found by a reference or registered by an installed package.

A reference is `file.py:Name` or `package.module:Name`. `use` imports it and remembers it for this process. Names that
are read from a file, such as a run folder, are looked up among the code that was named before (`known`): a file never
makes code run. Installed packages register code under the entry points `unbraid.methods`, `unbraid.datasets` and
`unbraid.metrics`; their code is trusted and needs no naming.
"""

import ast
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

REFERENCE = re.compile(r"(?P<module>.+\.py|[A-Za-z_]\w*(?:\.\w+)*):(?P<name>[A-Za-z_]\w*)")
IMPORTED_FILES = "unbraid_custom_code."  # prefix of the names of modules that were imported from files

_named: dict[str, Any] = {}  # code that was named in this process, by reference and by plain name


class CodeNotNamed(ValueError):
    """A file refers to your own code, which was not named in this process."""


def is_reference(text: str) -> bool:
    """Whether a text is written `file.py:Name` or `package.module:Name`.

    >>> is_reference("own.py:DecorVAE"), is_reference("beta-vae"), is_reference("images/")
    (True, False, False)
    """
    return REFERENCE.fullmatch(text) is not None


def plain_name(text: str) -> str:
    """The name without its file or module: `DecorVAE` for `own.py:DecorVAE`."""
    match = REFERENCE.fullmatch(text)
    return text if match is None else match["name"]


def reference(code: Any) -> str:
    """The reference of a class or function, with the name of its file but not the folder: `own.py:DecorVAE`."""
    path = _own_file(code)
    return f"{code.__module__ if path is None else path.name}:{_qualified_name(code)}"


def location(code: Any) -> str:
    """The reference of a class or function with the path of its file, from which another process can import it."""
    path = _own_file(code)
    if path is None:
        return reference(code)
    folder = Path.cwd()
    return f"{path.relative_to(folder) if path.is_relative_to(folder) else path}:{_qualified_name(code)}"


def use(code: str | Any) -> Any:
    """Imports the class or function of a reference, or takes the object itself, and remembers it for this process.

    Runs of your own code are loaded, evaluated, reported and exported after their code was named this way.

    >>> import pathlib
    >>> _ = pathlib.Path("own.py").write_text("def roughness(codes): return float(abs(codes).mean())")
    >>> use("own.py:roughness").__name__
    'roughness'
    """
    imported = _import(code) if isinstance(code, str) else code
    if not callable(imported):
        raise ValueError(f"Your own code is a class or a function; {code} is {imported!r:.60}.")
    names = {reference(imported), location(imported), _qualified_name(imported)}
    names |= {code} if isinstance(code, str) else set()
    for name in names:
        other = _named.get(name, imported)
        if is_reference(name) and other is not imported and _file(other) != _file(imported):
            raise ValueError(
                f"Two different files are named {name.rpartition(':')[0]}: {_file(other)} and {_file(imported)}. "
                "Rename one of them."
            )
    _named.update(dict.fromkeys(names, imported))
    return imported


def known(name: str) -> Any | None:
    """The code that was named before, by its reference or its plain name; None if it was not named."""
    return _named.get(name)


def require_known(name: str, *, option: str, owner: str = "") -> Any:
    """The code of a reference that a file contains; raises if the code was not named before.

    Args:
        name: The reference, such as `own.py:DecorVAE`.
        option: The command-line option that names the code, such as `--method`.
        owner: What the code belongs to, for the error message: the run folder.
    """
    if (code := known(name)) is not None:
        return code
    subject = f"{owner} uses" if owner else "This uses"
    file = name.rpartition(":")[0]
    path = "PATH/" if file.endswith(".py") and not Path(file).is_file() else ""
    raise CodeNotNamed(
        f"{subject} your own code, {name}, and a file never makes code run. Name the code again: {option} {path}{name} "
        f"(in Python unbraid.use({path + name!r}))."
    )


def digest(code: Any) -> str | None:
    """A short hash of a class or function and of the definitions in its file that it uses; None without source code.

    Comments, formatting and other definitions of the file do not count.
    """
    module = inspect.getmodule(code)
    try:
        tree = ast.parse(inspect.getsource(module))  # type: ignore[arg-type]
    except (OSError, TypeError, SyntaxError):
        return None
    definitions = _definitions(tree)
    waiting, used = [code.__qualname__.partition(".")[0]], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name in used or name not in definitions:
            continue
        used[name] = "".join(ast.dump(statement) for statement in definitions[name])
        waiting += [
            node.id
            for statement in definitions[name]
            for node in ast.walk(statement)
            if isinstance(node, ast.Name)
        ]
    return hashlib.sha256(repr(sorted(used.items())).encode()).hexdigest()[:12]


class Plugin(NamedTuple):
    """Code that an installed package registers."""

    name: str
    package: str
    code: Any


def plugins(group: str) -> dict[str, Plugin]:
    """The code of all installed packages in a group of entry points; what fails to import is named and skipped."""
    return {
        name: installed for name in _entry_points(group) if (installed := plugin(group, name)) is not None
    }


@functools.cache
def plugin(group: str, name: str) -> Plugin | None:
    """The code that an installed package registers under a name; None if there is none, or if its import fails."""
    entry = _entry_points(group).get(name)
    if entry is None:
        return None
    package = entry.dist.name if entry.dist is not None else entry.value
    try:
        return Plugin(name, package, entry.load())
    except Exception as error:  # any error of the package's code
        print(
            f"unbraid: {name} of the package {package} is skipped, because its import fails "
            f"({type(error).__name__}: {error}).",
            file=sys.stderr,
        )
        return None


def plugin_name(group: str, code: Any) -> str | None:
    """The name under which an installed package registers this class or function."""
    for name, entry in _entry_points(group).items():
        is_same_package = entry.module.partition(".")[0] == code.__module__.partition(".")[0]
        if is_same_package and entry.attr == code.__qualname__:
            return name
    return None


@functools.cache
def _entry_points(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    return {entry.name: entry for entry in importlib.metadata.entry_points(group=group)}


def _import(text: str) -> Any:
    """The class or function of a reference."""
    match = REFERENCE.fullmatch(text)
    if match is None:
        raise ValueError(
            f"Your own code is named file.py:Name or package.module:Name; got {text!r}. For example own.py:MyMethod."
        )
    source, name = match["module"], match["name"]
    module = import_file(Path(source)) if source.endswith(".py") else _import_module(source)
    if hasattr(module, name):
        return getattr(module, name)
    defined = [key for key, value in vars(module).items() if inspect.getmodule(value) is module]
    raise ValueError(f"{source} has no {name!r}; it defines {', '.join(defined) or 'no class or function'}.")


def import_file(path: Path, *, again: bool = False) -> ModuleType:
    """The module of a file, imported once per process unless `again`. The file may import modules beside it."""
    path = path.expanduser().resolve()
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}. Give the path of a Python file.")
    name = f"{IMPORTED_FILES}{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    for imported in (name, path.stem):
        file = getattr(sys.modules.get(imported), "__file__", None)
        if not again and file is not None and Path(file).resolve() == path:
            return sys.modules[imported]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    _add_to_path(path.parent)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # any error of the user's code
        del sys.modules[name]
        raise ValueError(f"{path} cannot be imported: {type(error).__name__}: {error}.") from error
    return module


def _import_module(name: str) -> ModuleType:
    _add_to_path(Path.cwd())
    try:
        return importlib.import_module(name)
    except Exception as error:  # any error of the user's code
        raise ValueError(f"The module {name} cannot be imported: {type(error).__name__}: {error}.") from error


def _add_to_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _file(code: Any) -> str:
    return getattr(inspect.getmodule(code), "__file__", None) or "this session"


def _own_file(code: Any) -> Path | None:
    """The file of code that no package contains: a script, or a module that was imported from its folder."""
    module = inspect.getmodule(code)
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return None
    path = Path(file).resolve()
    is_loose = "." not in module.__name__ and not {"site-packages", "dist-packages"} & {*path.parts}
    return path if is_loose or module.__name__.startswith(IMPORTED_FILES) else None


def _qualified_name(code: Any) -> str:
    return getattr(code, "__qualname__", type(code).__qualname__)


def _definitions(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    """The statements at the top of a module by the name that they define."""
    definitions: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names = [statement.name]
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = [node.id for each in targets for node in ast.walk(each) if isinstance(node, ast.Name)]
        else:
            names = []
        for name in names:
            definitions.setdefault(name, []).append(statement)
    return definitions
