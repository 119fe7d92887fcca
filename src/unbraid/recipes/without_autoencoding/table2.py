"""InfoMin on digit and background class, by its weight: Burns et al., 2021, Table 2.

Eq. 4 as printed, whose numbers are the paper's, and in its corrected form.
"""

from unbraid.recipes.without_autoencoding import cells, plan
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
TABLE = {  # by weight and strand: probe accuracy of digit class and background class in %
    0.001: {
        **{"r": (97.0, 63.1), "r0": (97.0, 62.8), "r1": (97.0, 63.0)},
        **{"z": (74.3, 60.7), "z0": (74.4, 60.6), "z1": (74.2, 60.8)},
    },
    0.1: {
        **{"r": (96.4, 61.1), "r0": (96.3, 60.8), "r1": (96.3, 60.8)},
        **{"z": (47.6, 35.7), "z0": (47.5, 35.7), "z1": (47.5, 35.8)},
    },
}
PUBLISHED = {
    key: value
    for weight, table in TABLE.items()
    for key, value in cells(
        "subinfomax", f"infomin_form=printed, lambda_infomin={weight}", "dc-bc", table
    ).items()
}
FORMS = ("printed", "corrected")


def runs(scale: str) -> list[Plan]:
    """One run per form and weight."""
    return [infomin(scale, form, weight) for form in FORMS for weight in TABLE]


def infomin(scale: str, form: str, weight: float, variant: str = "dc-bc") -> Plan:
    """InfoMin with a weight, evaluated on r and z; one seed."""
    options = {"infomin_form": form, "lambda_infomin": weight, "seed": 0}
    return plan(scale, "subinfomax", variant, strands=("r", "z"), **options)
