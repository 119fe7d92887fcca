"""Recipes and their published numbers, src/unbraid/recipes."""

import importlib
from collections.abc import Iterable
from dataclasses import replace as replace_fields
from pathlib import Path

import pytest
import torch

from tests.data.test_shapes3d import SMALL
from tests.data.test_shapes3d import write as write_shapes3d
from unbraid.files import sha256_of
from unbraid.objectives import PlainTranslator
from unbraid.optimizers import Adam
from unbraid.recipes import DEFAULT_SCALES, SCALES, Recipe, read_recipe, recipe_names
from unbraid.recipes.intervention import table2
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace
from unbraid.studies.aggregate import _published, varying_options
from unbraid.studies.study import study


@pytest.mark.parametrize("name", sorted(recipe_names()))
@pytest.mark.parametrize("scale", SCALES)
def test_every_recipe_lists_runs_whose_options_exist(name: str, scale: str) -> None:
    module = importlib.import_module(recipe_names()[name])
    if scale not in getattr(module, "SCALES", DEFAULT_SCALES):
        with pytest.raises(ValueError, match=f"{name} has no scale '{scale}'. Choose quick or "):
            read_recipe(name, scale)
        return
    found = read_recipe(name, scale)
    assert found.summary
    seen = {(plan.method, plan.data): plan for plan in found.runs}
    for plan in seen.values():
        plan.resolved()
    different = {(plan.method, plan.data, str(plan), str(plan.evaluation)) for plan in found.runs}
    assert len(different) == len(found.runs)


def test_the_sweep_has_the_papers_size() -> None:
    assert len(read_recipe("vae-family/sweep", "paper").runs) == 8 * 6 * 50
    quick = read_recipe("vae-family/sweep", "quick").runs
    assert {plan.method for plan in quick} >= {"vae", "beta-vae", "annealed-vae", "factor-vae", "ada-ml-vae"}


def test_the_intervention_papers_tables_are_complete() -> None:
    """Six numbers per method for five methods, and two per method for three; some as printed."""
    first, second, third = (read_recipe(f"intervention/table{n}", "paper").published for n in (1, 2, 3))
    assert (len(first), len(second), len(third)) == (30, 30, 6)
    assert first["factor-vae", "dsprites-pos_x-scale", "gamma=40.0", "irs"] == 0.57
    assert first["intervention", "dsprites", "dci"] == 0.76 and first["infogan-cr", "dsprites", "sap"] == 0.58
    assert second["beta-tcvae", "shapes3d-floor_hue-wall_hue", "sap"] == 0.23
    assert third["intervention", "hue-mnist-digit-hue", "sap"] == 0.70


def test_the_intervention_papers_first_table_is_scored_at_three_lengths_of_one_run() -> None:
    """10, 30 and 100 thousand steps, β-TCVAE at a quarter of them; correlated factors come first."""
    plans = read_recipe("intervention/table1", "paper").runs
    lengths: dict[str, set[int]] = {}
    for plan in plans:
        if plan.options["steps"] != 322_560:  # of InfoGAN-CR's authors
            steps = plan.evaluation.get("steps", plan.options["steps"])
            lengths.setdefault(plan.method, set()).add(steps)
            assert steps in (*plan.options["keep_weights"], plan.options["steps"])
    assert lengths.pop("beta-tcvae") == {2_500, 7_500, 25_000}
    others = ("factor-vae", "infogan-cr", "intervention", "sequential-intervention")
    assert lengths == {method: {10_000, 30_000, 100_000} for method in others}
    table = [plan for plan in plans if plan.resolved()["training"]["keep_weights"]]
    correlated = [bool(plan.options["correlate"]) for plan in table if "translator" not in plan.options]
    assert correlated == sorted(correlated, reverse=True) and sum(correlated) == len(correlated) // 2 == 180
    assert len({plan.folder_name for plan in table}) == 121


def test_algorithm_1_as_printed_is_one_seed_of_app_c_that_differs_in_nothing_else() -> None:
    plans = [
        plan for plan in read_recipe("intervention/table1", "paper").runs if plan.method == "intervention"
    ]
    [printed] = {plan.folder_name: plan for plan in plans if "translator" in plan.options}.values()
    app_c = next(plan for plan in plans if "translator" not in plan.options)
    ours, theirs = app_c.resolved(), printed.resolved()
    differing = {
        (owner, name) for owner in ours for name in ours[owner] if ours[owner][name] != theirs[owner][name]
    }
    assert differing == {("method", name) for name in ("translator", "subtract_entropy", "unrolled")}
    method = theirs["method"]
    assert method["translator"] == PlainTranslator() and method["translator"].downsample == 1
    assert method["unrolled"] and not method["subtract_entropy"] and method["lambda_translation"] == 1


def test_short_tables_of_the_intervention_paper_are_the_runs_of_its_pages() -> None:
    """But for the slower schedule of independent digits."""
    for number in (1, 2, 3):
        short = read_recipe(f"intervention/table{number}", "short").runs
        rows = {plan.folder_name for plan in read_recipe(f"intervention/short-table{number}", "paper").runs}
        others = [plan for plan in short if plan.folder_name not in rows]
        assert len(others) == (3 if number == 3 else 0)
        assert all(plan.options["steps"] == 8_400 and not plan.options["correlate"] for plan in others)


def test_the_width_of_the_law_and_figure_4_take_the_runs_of_the_tables() -> None:
    first, second = (
        {plan.folder_name for plan in read_recipe(f"intervention/table{n}", "paper").runs} for n in (1, 2)
    )
    sigma = {plan.folder_name: plan for plan in read_recipe("intervention/sigma", "paper").runs}
    assert len(sigma) == 12 and len(sigma.keys() & first) == 6
    widths = {
        plan.resolved()["data"]["correlation_sigma"] for plan in sigma.values() if plan.options["correlate"]
    }
    assert widths == {0.1, 0.2, 0.4}
    assert {plan.folder_name for plan in read_recipe("intervention/figure4", "paper").runs} <= second


def test_the_weights_are_chosen_among_six_settings_without_the_translation_in_the_loss() -> None:
    plans = read_recipe("intervention/select", "paper").runs
    grid = {(plan.options["lambda_cycle"], plan.options["lambda_adv"]) for plan in plans}
    assert grid == {(cycle, adv) for cycle in (0.25, 1.0) for adv in (10.0, 100.0, 1000.0)}
    assert {plan.options["lambda_translation"] for plan in plans} == {0.0} and len(plans) == 6
    assert all("use_holdout" not in plan.evaluation.get("on", {}) for plan in plans)


def test_the_second_table_runs_on_a_small_file_in_the_format_of_3d_shapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shapes3d").mkdir()
    path = write_shapes3d(tmp_path / "shapes3d")
    module = importlib.import_module("unbraid.data.shapes3d")
    monkeypatch.setattr(module, "SPACE", SMALL)
    size, sha256 = path.stat().st_size, f"sha256:{sha256_of(path)}"
    monkeypatch.setattr(module, "SOURCE", replace_fields(module.SOURCE, hashes=(sha256,), size=size))
    depths = range(2, 4)  # of 2 to 15, which tests of DCI search: here a forest per depth takes the time
    monkeypatch.setattr(importlib.import_module("unbraid.metrics.dci"), "CV_DEPTHS", depths)
    plans = table2.quick("shapes3d", holdout_size=60, train_size=200, steps=2, keep_weights=())
    whole = [plan for plan in plans if "steps" not in plan.evaluation]
    some = [plan for plan in whole if plan.method == "intervention" or plan.options.get("gamma") == 10.0]
    assert {plan.method for plan in some} == {"factor-vae", "intervention"} and len(some) == 4
    recipe = Recipe("own", "", tuple(some), {})
    result = study(recipe, tmp_path / "study", root=tmp_path, device="cpu", quiet=True)
    assert not result.failures and {row.metric for row in result.rows} >= {"dci", "sap", "irs"}
    assert {row.data for row in result.rows} == {"shapes3d", "shapes3d-floor_hue-wall_hue"}
    assert "4 of 6 factors discrete" in {row.protocol for row in result.rows if row.metric == "sap"}.pop()


@pytest.mark.parametrize("number", [1, 3])
def test_only_the_papers_variant_of_a_short_table_shows_its_numbers(number: int) -> None:
    """Three seeds, both distributions; neither variants nor the sequential autoencoder were published."""
    recipe = read_recipe(f"intervention/short-table{number}", "paper")
    varying, steps = varying_options(recipe.runs), 10_000
    sequential = 7_000 if number == 3 else steps
    shown = {"published": 0, "variant": 0, "sequential": 0}
    for plan in recipe.runs:
        fewer = {"beta-tcvae": 2_500, "sequential-intervention": sequential}
        assert plan.options["steps"] == fewer.get(plan.method, steps)
        if plan.method in ("intervention", "sequential-intervention"):
            own = {name: plan.options[name] for name in varying[plan.method] if name in plan.options}
            data = "-".join([plan.data, *plan.options["correlate"]])
            value = _published(recipe.published, plan.method, data, own, "sap")
            kind = "sequential" if plan.method != "intervention" else "published" if value else "variant"
            assert (value is not None) == (kind == "published")
            assert (kind == "variant") == (plan.method == "intervention" and "lambda_translation" in own)
            shown[kind] += 1
    counts = {1: {"published": 6, "variant": 6, "sequential": 24}}
    assert shown == counts.get(number, {"published": 6, "variant": 0, "sequential": 6})


def test_the_contrast_papers_tables_are_complete() -> None:
    """Five numbers per method for four methods on four datasets; seven expressions for seven methods."""
    first, second = (read_recipe(f"principled-contrast/table{n}", "paper").published for n in (1, 2))
    assert [sum(value is not None for value in table.values()) for table in (first, second)] == [80, 49]
    assert first["cvae", "celeba", "salient:clustering"] == 0.6001
    assert first["principled-contrast", "grassy-mnist", "lambda_z=1.0", "common:background_distance"] == 4.60
    happy = "class_accuracy.per_class.happy"
    assert second["principled-contrast", "expressions", "lambda_z=0.0", happy] == 0.575


def test_the_contrast_papers_table_has_its_settings_at_its_length() -> None:
    """β 2, λ 1, Adam at a constant 1e-3, 128 + 128 images, no warm-up, 78,000 steps of digits: App. A.3 and Fig. 6."""
    plans = [
        plan for plan in read_recipe("principled-contrast/table1", "paper").runs if "steps" in plan.options
    ]
    assert {plan.method for plan in plans} == {
        *("cvae", "srb-vae", "principled-contrast", "contrast-vae", "mm-cvae")
    }
    for plan in plans:
        options = plan.resolved()
        assert options["training"]["steps"] == 78_000 and options["training"]["batch_size"] == 128
        assert options["training"]["optimizer"] == Adam(1e-3) and options["training"]["lr_schedule"] is None
        assert options["method"]["beta"] == 2 and options["method"]["beta_schedule"] is None
        assert options["network"]["architecture"] == "conv-contrast"
        sizes = options["method"]["common_dim"], options["method"]["salient_dim"]
        assert sizes == (16, 8) or (sizes == (8, 4) and plan.options["seed"] == 0)
    terms = {
        (plan.options["lambda_z"], plan.resolved()["method"]["lambda_c"])
        for plan in plans
        if plan.method == "principled-contrast"
    }
    assert terms == {(0.0, 1.0), (1.0, 1.0)}


def settings_of(plans: Iterable[Plan], overlay: bool) -> set[str]:
    """The settings of Eq. 8 with one kind of decoder, without the name of the decoder."""
    found = [
        dict(plan.options) | {"architecture": plan.options["architecture"].removeprefix("overlay:")}
        for plan in plans
        if plan.method == "principled-contrast"
        and plan.options["architecture"].startswith("overlay:") == overlay
    ]
    assert len({str(sorted(options.items(), key=str)) for options in found}) == len(found)
    return {str(sorted(options.items(), key=str)) for options in found}


@pytest.mark.parametrize("scale", ["quick", "short"])
def test_both_decoders_of_principled_contrast_are_searched_equally(scale: str) -> None:
    """One grid, evaluated on held-out training digits; each further option beside its absence, over five seeds."""
    plans = read_recipe("principled-contrast/search", scale).runs
    one, overlay = (settings_of(plans, kind) for kind in (False, True))
    assert one == overlay and len(one) == (4 if scale == "quick" else 2 * (36 + 3 * 5))
    if scale == "short":
        assert all(plan.evaluation["on"]["split"] == "validation" for plan in plans)


def test_the_zero_salient_loss_is_studied_in_one_change_at_a_time() -> None:
    """Every plan differs from Eq. 7 as printed in one setting beside λ_C, its length and its seed."""
    for scale, length in (("short", 20_000), ("paper", 78_000)):
        plans = read_recipe("principled-contrast/zero-salient", scale).runs
        printed = plans[0].resolved()["method"] | plans[0].resolved()["network"] | {"lambda_c": 1.0}
        assert printed["beta"] == 2.0 and printed["lambda_z"] == 0.0 and printed["batch_stats"] == "joint"
        changed: dict[tuple[str, ...], set[str]] = {}
        for plan in plans:
            options = plan.resolved()["method"] | plan.resolved()["network"]
            names = tuple(sorted(name for name in printed if options[name] != printed[name]))
            steps = plan.options["steps"]
            assert len(set(names) - {"lambda_c"}) <= 1 and (steps == length or set(names) <= {"lambda_c"})
            changed.setdefault(names, set()).add(str([options[name] for name in names] + [steps]))
        both = [("lambda_c", name) if name > "lambda_c" else (name, "lambda_c") for name in CHANGED]
        for name, pair in zip(CHANGED, both, strict=True):
            assert len(changed[pair]) == len(changed[(name,)])  # with λ_C = 0 and 1
        assert len(changed[("zero_salient_std",)]) == len(changed[("lambda_schedule",)]) == 2
        assert (
            len(changed[()]) == 3 and len(changed[("lambda_c",)]) == 5
        )  # 0, at three lengths, and two others


CHANGED = ("architecture", "batch_stats", "beta")


def test_faces_have_ten_seeds() -> None:
    for number in (1, 2):
        seeds: dict[tuple[str, str], set[int]] = {}
        for plan in read_recipe(f"principled-contrast/table{number}", "paper").runs:
            if plan.data != "grassy-mnist":
                seeds.setdefault((plan.method, plan.data), set()).add(plan.options["seed"])
        assert seeds and all(found == set(range(10)) for found in seeds.values())


@pytest.mark.parametrize("data", ["celeba", "grassy-mnist"])
def test_rows_that_the_contrast_paper_does_not_have_show_none_of_its_numbers(data: str) -> None:
    recipe = read_recipe("principled-contrast/table1", "short")
    varying = varying_options(recipe.runs)
    found: dict[tuple[str, bool], set[bool]] = {}
    for plan in recipe.runs:
        if plan.data == data and plan.options.get("mix", "linear") == "linear":
            own = {name: plan.options[name] for name in varying[plan.method] if name in plan.options}
            value = _published(recipe.published, plan.method, data, own, "salient:clustering")
            overlay = str(plan.options.get("architecture")).startswith("overlay:")
            found.setdefault((plan.method, overlay), set()).add(value is not None)
    bare = ("cvae", "srb-vae", "principled-contrast")
    assert all(found[method, False] == {True} for method in bare)
    beside = [("contrast-vae", False), ("mm-cvae", False)]
    beside += [(method, True) for method in ("cvae", "contrast-vae", "principled-contrast")]
    assert all(found[row] == {False} for row in beside)


PREDICTORS = {"cnn", "cnn-beta-vae", "vfae", "cai", "cvib", "uai", "recon-contrast"}


@pytest.mark.parametrize("scale", ["short", "paper"])
@pytest.mark.parametrize("number", [1, 2])
def test_the_tables_of_accuracy_have_two_blocks_of_seven_methods(number: int, scale: str) -> None:
    """One plain network for all, then a reader for all; the second block shows no published number."""
    recipe = read_recipe(f"recon-contrast/table{number}", scale)
    data = "colored-mnist" if number == 1 else "rotation-colored-mnist"
    on = f"{data} --split test"
    metric = "group_accuracy" if number == 1 else "group_accuracy.worst_at.angle=+65"
    varying = varying_options(recipe.runs)
    plain, reader = set(), set()
    for plan in recipe.runs:
        if plan.data == data and "color_set" not in plan.evaluation["on"]:
            own = {name: plan.options[name] for name in varying[plan.method] if name in plan.options}
            own = dict(sorted((own | {"on": on}).items()))
            value = _published(recipe.published, plan.method, data, own, metric)
            reads = str(plan.options.get("predictive_encoder", plan.options.get("architecture", "")))
            (reader if "channelwise" in reads else plain).add((plan.method, plan.options.get("partner")))
            assert (value is None) == ("channelwise" in reads)
    assert plain == reader and {method for method, _ in plain} == PREDICTORS
    both = {partner for method, partner in plain if method == "recon-contrast"}
    assert both == {"same-instance", "other-instance"}
    assert {plan.options["precision"] for plan in recipe.runs} == {"bf16"}
    seeds = {"short": 3, "paper": 5}[scale]
    assert {plan.options["seed"] for plan in recipe.runs} == set(range(seeds))


@pytest.mark.parametrize("number", [1, 2])
def test_every_row_of_both_blocks_can_be_trained(number: int) -> None:
    """Each with its network, on bundled digits: the loss of every player is finite and reaches its parameters."""
    plans = [
        plan
        for plan in read_recipe(f"recon-contrast/table{number}", "short").runs
        if plan.options["seed"] == 0
    ]
    plans = [replace(plan, digits="bundled") for plan in plans if "color_set" not in plan.evaluation["on"]]
    dataset = plans[0].dataset()
    for plan in plans:
        method, draw = plan.build(dataset), plan.build_draw()
        draw.check(dataset)
        batch = draw(dataset, 16, torch.Generator().manual_seed(0), method.step)
        for player in method.players():
            terms = player.loss(batch)
            gradients = torch.autograd.grad(terms.total, [*player.parameters], allow_unused=True)
            assert terms.total.isfinite() and any(g is not None and g.any() for g in gradients), plan


def test_recon_contrast_has_both_warm_ups_in_every_table() -> None:
    """Over the first half of training, of k to all known colors of a digit and to 3 of the factors of a room."""
    for number in (1, 2, 5):
        for plan in read_recipe(f"recon-contrast/table{number}", "paper").runs:
            if plan.method == "recon-contrast":
                half = plan.options["steps"] // 2
                max_k = 2.0 if "mnist" in plan.data else 3.0
                assert plan.options["k_schedule"] == Linear(1.0, max_k, half)
                assert plan.options["swap_schedule"] == Linear(0.0, 1.0, half)


def test_the_search_gives_every_method_the_same_budget() -> None:
    """Six settings per method, network and reading of the pairs, in each fold; α, β and γ are among them."""
    counts: dict[tuple[str, ...], set[str]] = {}
    for plan in read_recipe("recon-contrast/search", "paper").runs:
        options = plan.options
        reads = str(options.get("predictive_encoder", options.get("architecture", "")))
        row = (
            plan.method,
            plan.data,
            reads,
            str(options.get("partner")),
            str(options.get("test_digit_colors")),
        )
        counts.setdefault(row, set()).add(str(plan))
    assert {len(plans) for plans in counts.values()} == {6}
    assert {row[0] for row in counts} >= PREDICTORS | {"sw-vae", "ada-gvae", "ada-ml-vae"}
    searched = [plan.options for plan in read_recipe("recon-contrast/search", "paper").runs]
    for weight in ("lambda_swap", "lambda_contrast", "lambda_average", "classify_direction"):
        assert len({options[weight] for options in searched if weight in options}) > 1


def test_the_search_never_shows_colors_of_its_validation_in_training() -> None:
    plans = [plan for plan in read_recipe("recon-contrast/search", "paper").runs if "mnist" in plan.data]
    for plan in plans:
        options = plan.options
        assert not {*options["background_colors"]} & {*options["test_background_colors"]}
        assert not {*options["digit_colors"]} & {*options["test_digit_colors"]}
        assert plan.evaluation["on"] == {"split": "ood-validation"}
        assert not {*options.get("angles", ())} & {*options.get("test_angles", ())}
    folds = {(plan.options["test_background_colors"], plan.options["test_digit_colors"]) for plan in plans}
    assert len(folds) == 3 and len({ink for _, inks in folds for ink in inks}) == 6


def test_table_4_shows_the_papers_numbers_for_all_of_its_rows() -> None:
    """As a study names them: in every scale but the quick one, which has no 3D Shapes."""
    recipe = read_recipe("recon-contrast/table4", "paper")
    varying = varying_options(recipe.runs)
    shown = []
    for plan in recipe.runs:
        if plan.data == "shapes3d" and plan.options["seed"] == 0:
            own = {name: plan.options[name] for name in sorted(varying["sw-vae"] - {"data"})}
            shown.append(_published(recipe.published, "sw-vae", "shapes3d", own, "mig"))
    assert shown == [0.492, 0.512, 0.716] * 2


def test_your_own_file_is_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        '"""My sweep."""\n'
        "from unbraid import Plan, replace\n"
        'base = Plan("beta-vae", "sprites", {"steps": 2})\n'
        "runs = [replace(base, beta=beta) for beta in (1.0, 2.0)]\n"
    )
    found = read_recipe(str(path))
    assert found.summary == "My sweep." and len(found.runs) == 2
    path.write_text("runs = 3\n")
    with pytest.raises(ValueError, match=r"needs a list or a function `runs` of unbraid\.Plan"):
        read_recipe(str(path))
    path.write_text("import nothing_of_this_name\n")
    with pytest.raises(ValueError, match="cannot be read as a recipe: ModuleNotFoundError"):
        read_recipe(str(path))
    path.write_text("runs = [\n")
    with pytest.raises(ValueError, match=r"cannot be read as a recipe: SyntaxError: '\[' was never closed"):
        read_recipe(str(path))
    path.write_text("def runs(scale):\n    return undefined\n")
    with pytest.raises(ValueError, match="cannot be read as a recipe: NameError: name 'undefined'"):
        read_recipe(str(path))
    path.write_text("from unbraid import Plan\nruns = [Plan('nowhere.py:VAE', 'sprites')]\n")
    with pytest.raises(ValueError, match=r"recipe: FileNotFoundError: .* the path of a Python file\.$"):
        read_recipe(str(path))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_recipe(str(tmp_path / "nowhere.py"))
    with pytest.raises(ValueError, match="no recipe 'vae-family/swep'; did you mean vae-family/sweep"):
        read_recipe("vae-family/swep")
    with pytest.raises(ValueError, match=r"no scale 'huge'\. Choose quick, short or paper"):
        read_recipe("vae-family/sweep", "huge")
