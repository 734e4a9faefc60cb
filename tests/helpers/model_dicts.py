"""Records of results, small enough to check by hand, for tests of pages."""

EVIL = "<script>alert('&')</script>"
SPREAD = {"min": 0.1, "lower_quartile": 0.2, "median": 0.4, "upper_quartile": 0.6, "max": 0.9}


def measured(value, std_error=0.02):
    return {"value": value, "std_error": std_error}


def columns():
    named = [("age", "number"), (EVIL, "category"), ("$income$ 收入\x07", "number")]
    return [
        {"name": name, "kind": kind, "n_missing": k, "n_distinct": 10 + k, "n_folded": k}
        | {"heavy_tailed": k == 2}
        for k, (name, kind) in enumerate(named)
    ]


def class_summary(name, share):
    return {"name": name, "pooled_proportion": share, "proportions": dict(SPREAD)} | {
        "effective_rows": 40.0
    }


def bag_summary():
    return {
        "n_rows": 300,
        "n_bags": 30,
        "sizes": dict.fromkeys(SPREAD, 10.0),
        "classes": [class_summary("0", 0.59), class_summary("1", 0.41)],
        "hardest_classes": ["0", "1"],
        "condition_number": 2.5,
        "information": 18.6,
        "effective_sample_size": 74.4,
        "efficiency": 0.248,
    }


def source_summary():
    row = {"n_rows": 200, "n_labelled_positive": 90, "flip_pos": 0.05, "flip_neg": 0.06}
    estimated = {"flip_pos_interval": [0.01, 0.12], "flip_neg_interval": [0.02, 0.13]}
    return {
        "n_rows": 600,
        "class_prior": 0.54,
        "effective_sample_size": 229.4,
        "sources": [
            {"source": "nurse", "weight": 0.6} | row,
            {"source": EVIL, "weight": None} | row | estimated,
        ],
        "left_out": "",
    }


def criteria():
    return {
        "proportion_risk": measured(0.08),
    }


def calibration():
    shares = (-0.05, 0.3, 0.75)
    return [
        {"low": 0.3 * k, "high": 0.3 * k + 0.3, "n_rows": 100, "predicted": 0.3 * k + 0.1}
        | {"share": share, "std_error": 0.05}
        for k, share in enumerate(shares)
    ]


def histogram(labelled=False):
    found = {"edges": [k / 10 for k in range(11)], "counts": [10, 20, *[30] * 7, 60]}
    return found | ({"counts_positive": [0, 5, *[10] * 7, 55]} if labelled else {})


def bag_prediction(bag, size, known, predicted, classified):
    shares = {"known": known, "predicted": predicted, "classified": classified}
    by_class = {name: [1 - share, share] for name, share in shares.items()}
    return {"bag": bag, "size": size} | by_class


def held_out():
    bags = [
        bag_prediction(f"bag {k}", 10 + k, k / 30, 0.2 + k / 60, classified=k / 30)
        for k in range(29)
    ]
    odd = bag_prediction(EVIL, 5, 0.1, 0.95, classified=1.0)
    drops = (0.02, 0.001, -0.0004)
    return {
        "criteria": criteria(),
        "classes": ["0", "1"],
        "per_bag": [*bags, odd],
        "histogram": histogram(),
        "calibration": calibration(),
        "calibration_from": "proportions",
        "calibration_slope": 1.6,
        "importance": [
            {"column": column["name"], "drop": drop, "std_error": 0.0005}
            for column, drop in zip(columns(), drops, strict=True)
        ],
        "importance_criterion": "count_log_likelihood",
    }


def assumptions():
    return {
        "classes_p_value": 0.005,
        "classes_differ": True,
        "columns": ["age", EVIL],
        "chances_p_value": 0.3,
        "chances_differ": False,
        "bag_effect": 0.01,
    }


def verdict(word="check it with labels", why="", n_labels=240):
    return {"word": word, "why": why or f"your groups differ in {EVIL}", "n_labels": n_labels}


def expected():
    found = {"value": 0.871, "low": 0.802, "high": 0.94, "level": 0.95, "evidence": "strong"}
    return found | {"guessing": 0.5, "group_rate": 0.654, "better_than_group_rate": 1.0}


def model_card():
    params = {"kernel_gamma": 0.00174, "reg_strength": 0.001}
    return {
        "created": "2026-01-02T03:04:05+00:00",
        "versions": {"python": "3.12.1", "decorrupt": "0.1.0"},
        "situation": "bags",
        "class_shares": {"0": 0.59, "1": 0.41},
        "columns": columns(),
        "left_out": {f"{EVIL} id": "it numbers the rows"},
        "bags": bag_summary(),
        "method": {
            "asked": "auto",
            "chosen": "mean_map",
            "parameters": params,
            "n_models": 3,
            "n_configurations": 8,
            "n_compared": 8,
            "decision": "balanced",
            "n_folds": 5,
            "held_out": "whole bags",
            "estimator": "MeanMapClassifier",
            "n_landmarks": 12,
        },
        "leaderboard": [
            {"method": name, "params": params, "score": score, "std_error": 0.01}
            | {"seconds": 2.5, "chosen": name == "mean_map", "weight": weight}
            for name, score, weight in (
                ("corrected_loss", -0.1, 0.02),
                ("mean_map", -0.105, 0.95),
                ("new", -0.3, 0.03),
            )
        ],
        "scoring": "count_log_likelihood",
        "criteria": criteria(),
        "diagnostics": {
            "is_convex_at_reg_strength": False,
            "convexity_floor": 0.0123,
            "training_risk": -0.05,
            "is_risk_negative": True,
            "is_overfitted": True,
            "bound": 3.2,
            "is_bound_vacuous": True,
            "kernel_rank": 42,
            "kernel_error": 0.001,
            "solver": "newton",
            "solver_status": "converged",
            "n_iter": 7,
            "dropped": {"one row only": 2},
        },
        "verdict": verdict(),
        "assumptions": assumptions(),
        "expected": expected(),
        "bag_column": f"ward {EVIL}",
        "baselines": [{"method": "constant", "score": -0.41, "std_error": 0.02}],
        "warnings": [f"column {EVIL!r} is odd"],
        "not_for": ["for rows of another kind"],
        "configuration": {"rows": f"{EVIL}.csv", "force": True, "sql": None, "seed": 3},
        "configuration_from": {"rows": "command line", "seed": "config file"},
    }


def source_card():
    card = model_card() | {"situation": "sources", "sources": source_summary()}
    card["noise_rates"] = "given"
    card["class_shares"] = {"well": 0.59, f"sick {EVIL}": 0.41}
    card["method"] |= {"chosen": "forward", "held_out": "rows"}
    del card["expected"]["group_rate"], card["expected"]["better_than_group_rate"]
    for name in ("bags", "assumptions", "bag_column", "baselines"):
        del card[name]
    return card


def class_result(name, n_rows, n_predicted):
    found = {"name": name, "n_rows": n_rows, "n_predicted": n_predicted}
    return found | {"recall": measured(0.8), "precision": measured(0.7)}


def evaluation():
    metrics = ("accuracy", "balanced_accuracy", "roc_auc", "brier", "log_loss")
    counted = {"count_log_likelihood": measured(-0.11)}
    return {
        "model": "model.skops",
        "rows": f"{EVIL}.csv",
        "created": "2026-01-02T03:04:05+00:00",
        "n_rows": 300,
        "labels": {
            "n_rows": 300,
            "class_shares": {"no": 0.59, f"yes {EVIL}": 0.41},
            "classes": [class_result("no", 170, 183), class_result(f"yes {EVIL}", 130, 117)],
            "metrics": {name: measured(0.8 + k / 100) for k, name in enumerate(metrics)},
            "confusion": [[153, 17], [30, 100]],
            "histogram": histogram(labelled=True),
            "calibration": calibration(),
            "calibration_from": "labels",
        },
        "bags": held_out() | {"criteria": counted | criteria()},
        "bag_summary": bag_summary(),
        "verdict": verdict("usable", "balanced accuracy 0.810 (0.770 to 0.850)"),
        "assumptions": assumptions(),
        "expected": expected(),
        "warnings": ["column 'town': categories unknown in training"],
    }


def inspection():
    shares = [0.4, 0.3, 0.2, 0.1, 0.0]
    return {
        "rows": "rows.csv",
        "situation": "bags",
        "created": "2026-01-02T03:04:05+00:00",
        "bags": bag_summary(),
        "columns": columns(),
        "left_out": {"id": "it numbers the rows"},
        "bag_details": {
            "shares": [
                {"bag": f"b{k}", "size": 10, "proportion": proportion, "share": share}
                for k, (proportion, share) in enumerate(
                    zip((0.9, 0.1, 0.7, 0.3, 0.41), shares, strict=True)
                )
            ],
            "n_informative": 3,
            "too_small": [f"b4 {EVIL} (10 rows)"],
            "average": ["b3"],
            "convexity": {"superbag": False, "floor": 0.0345},
        },
        "verdict": verdict("usable", "the bags differ in their shares"),
        "assumptions": assumptions(),
        "warnings": ["there are only 5 bags"],
    }


def source_inspection():
    kept = ("rows", "created", "columns", "left_out", "warnings", "verdict")
    found = {name: value for name, value in inspection().items() if name in kept}
    return found | {"situation": "sources", "sources": source_summary()}


def demo_results():
    return {
        "n_rows": 114,
        "models": {
            "proportions of bags only": evaluation()["labels"]["metrics"],
            "true labels": {"accuracy": measured(0.99), "balanced_accuracy": measured(0.98)},
        },
    }
