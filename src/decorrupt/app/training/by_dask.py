"""Training and prediction on Parquet files that do not fit in memory, with Dask.

The columns, the method and its parameters are chosen on a sample of whole bags, which is trained
and judged like any table. Then the chosen method is fitted again to all rows, in partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from decorrupt import distributed
from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError, need_names
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.bag_values import SAME_SHARE
from decorrupt.app.training.columns import Column, Features
from decorrupt.app.training.predict import Predictor
from decorrupt.app.training.preprocess import as_text, prepare
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.summary import summarize_bags
from decorrupt.app.training.table import Table
from decorrupt.app.training.train import (
    CLASSIFIER,
    TrainedModel,
    class_shares,
    diagnostics_of,
    inner_estimator,
    n_landmarks,
)
from decorrupt.distributed.engine import connect, import_dask
from decorrupt.distributed.sample import share_by_bag
from decorrupt.features import as_kernel
from decorrupt.observed import Observed, as_targets

# Enough to choose a method; about a minute of training.
SAMPLE_ROWS = 20_000
# Columns of the tables that are made here; a user's columns have other names.
BAG, CLASS, LOWER, UPPER = (f"decorrupt {name}" for name in ("bag", "class", "lower", "upper"))
# --method that have an estimator with Dask.
DASK_METHODS = ("mean-map", "corrected-loss", "count-likelihood")


@dataclass(frozen=True)
class LargeTable:
    """A Parquet file, or a folder of them, with the bags of its rows.

    Attributes
    ----------
    path : str
        The file or folder.
    columns : BagColumns
        The columns that describe bags; if there is a table of bags, only the bag is in the rows.
    client : str or None
        The address of a scheduler; None for Dask's threads.
    memory : str or None
        What partitions may take in memory, such as "2GB".
    """

    path: str
    columns: BagColumns
    client: str | None = None
    memory: str | None = None

    def rows(self) -> Any:
        """Return the rows as a Dask dataframe."""
        return read_parquet(self.path)

    def one_row_per_bag(self, *, has_table: bool) -> Table:
        """Return the bags with their numbers of rows, and their values unless a table has them.

        One pass over these columns.

        Raises
        ------
        TableError
            If a column is missing, or a value differs within a bag.
        """
        bag, header = self.columns.bag, list(self.rows().columns)
        need_names(header, [bag], self.path, "--bag-column")
        values = [] if has_table else [name for name in self.columns.names if name != bag]
        for option, names in self.columns.values.items() if values else ():
            need_names(
                header, [names] if isinstance(names, str) else names or [], self.path, option
            )
        grouped = self.rows()[[bag, *values]].groupby(bag, dropna=False)
        with connect(self.client) as engine:
            tasks = [grouped.min(), grouped.max(), grouped.count()] if values else []
            sizes, *found = engine.compute([grouped.size(), *tasks])
        if sizes.index.hasnans:
            n_empty = sizes[sizes.index.isna()].sum()
            raise TableError(
                f"{self.path}: column {bag!r} is empty in {n_empty:,} rows, but every row must "
                "belong to a bag"
            )
        frame = sizes.index.to_frame(index=False, name=bag)
        for name in values:
            low, high, n_filled = (one[name].loc[sizes.index].to_numpy() for one in found)
            _refuse_different(self.path, name, sizes, low, high, n_filled)
            frame[name] = low
        return Table(frame, self.path, sizes.to_numpy())

    def write_sample(self, folder: Path, known: BagRows, seed: int) -> dict[str, Any]:
        """Write a table of about SAMPLE_ROWS rows of randomly chosen bags, and one of these bags.

        Of a bag of which only some rows are drawn, the shares are those of the whole bag.

        Returns
        -------
        dict
            The options that name the tables and their columns.
        """
        import pandas as pd

        rows, bags = folder / "rows.parquet", folder / "bags.parquet"
        share = share_by_bag(known.observed.sizes, seed, SAMPLE_ROWS)
        drawn = np.flatnonzero(share > 0)
        by_bag = pd.Series(share[drawn], index=known.observed.ids[drawn])
        dask = import_dask()
        draw, shared = dask.delayed(_draw), dask.delayed(by_bag)
        parts = enumerate(self.rows().to_delayed())
        with connect(self.client) as engine:
            found = engine.compute(
                [draw(part, self.columns, shared, [seed, k]) for k, part in parts]
            )
        pd.concat(found, ignore_index=True).to_parquet(rows, index=False)
        table, options = _bags_in_shares(known, self.columns, drawn, share[drawn] == 1)
        table.to_parquet(bags, index=False)
        name = f"a sample of {self.path}"
        return {"rows": str(rows), "name": name, "bags": str(bags), "decimal": None} | options


def _refuse_different(
    path: str, name: str, sizes: Any, low: Any, high: Any, n_filled: NDArray[Any]
) -> None:
    for place in np.flatnonzero(n_filled < sizes)[:1]:
        raise TableError(f"{path}: column {name!r} is empty in bag {sizes.index[place]!r}")
    is_number = np.issubdtype(low.dtype, np.number)
    apart = np.abs(high - low) > SAME_SHARE if is_number else low != high
    for place in np.flatnonzero(apart)[:1]:
        raise TableError(
            f"{path}: column {name!r} contains {low[place]} and {high[place]} for bag "
            f"{sizes.index[place]!r}: all rows of a bag must have the same value"
        )


def _bags_in_shares(
    known: BagRows, columns: BagColumns, drawn: NDArray[np.intp], is_whole: NDArray[np.bool_]
) -> tuple[Any, dict[str, Any]]:
    """Return a table of some bags with their shares, and the options that name its columns."""
    import pandas as pd

    observed = known.observed
    lower, upper = (ends[drawn] for ends in known_shares(observed))
    if columns.count_noise is None:
        # A range of the whole bag need not contain a whole number of some of its rows.
        middle = observed.proportions[drawn]
        lower, upper = (np.where(is_whole[:, None], end, middle) for end in (lower, upper))
    unused = ("count_column", "count_columns", "class_column", "upper_column")
    options: dict[str, Any] = dict.fromkeys((*unused, "proportion_column", "proportion_columns"))
    table = pd.DataFrame({columns.bag: observed.ids[drawn]})
    if known.are_named:
        table[known.classes] = lower
        if columns.class_name is None:
            return table, options | {"proportion_columns": ",".join(known.classes)}
        table = table.melt(columns.bag, var_name=CLASS, value_name=LOWER)
        return table, options | {"class_column": CLASS, "proportion_column": LOWER}
    options["proportion_column"] = LOWER
    table[LOWER] = lower[:, 1]
    if (lower < upper).any():
        options["upper_column"] = UPPER
        table[UPPER] = upper[:, 1]
    return table, options


def known_shares(observed: Observed) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest possible shares of each bag, or the noisy ones twice."""
    if observed.reported is None:
        return observed.proportions, observed.proportions
    sizes = observed.sizes[:, None]
    return observed.reported.lower / sizes, observed.reported.upper / sizes


def parquet_files(path: str) -> list[str]:
    """Return a Parquet file or those of a folder.

    Raises
    ------
    TableError
        If there is none.
    """
    place = Path(path).expanduser()
    files = sorted(map(str, place.glob("*.parquet"))) if place.is_dir() else [str(place)]
    if not place.exists() or not files:
        raise TableError(f"{path}: there is no such Parquet file or folder of *.parquet files")
    if not all(file.endswith(".parquet") for file in files):
        raise TableError(f"{path}: --engine dask reads a *.parquet file or a folder of them")
    return files


def read_parquet(path: str) -> Any:
    """Return a Parquet file or a folder of them as a Dask dataframe.

    Raises
    ------
    TableError
        If there is none, or it cannot be read.
    """
    import_dask()
    import dask.dataframe as dd

    files = parquet_files(path)
    try:
        return dd.read_parquet(files)
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot be read as Parquet: {error}") from None


def _draw(frame: Any, columns: BagColumns, share: Any, seed: Sequence[int]) -> Any:
    """Return some rows, without the columns that the table of bags contains."""
    known = share.reindex(_bag_names(frame, columns.bag)).fillna(0.0).to_numpy()
    others = [name for name in columns.names if name != columns.bag and name in frame.columns]
    return frame[np.random.default_rng(seed).random(len(frame)) < known].drop(columns=others)


def _bag_names(frame: Any, column: str) -> NDArray[Any]:
    """Return the bag of each row as text; a partition has few bags and many rows."""
    import pandas as pd

    codes, bags = pd.factorize(frame[column])
    return np.asarray(as_text(pd.Series(bags))[codes])


def refit(trained: TrainedModel, large: LargeTable, bags: BagRows, used: Features) -> TrainedModel:
    """Return the model with its classifier fitted to all rows, and a card that says so.

    Parameters
    ----------
    trained : TrainedModel
        Of the sample.
    large : LargeTable
        All rows.
    bags : BagRows
        The bags of all rows, from :meth:`LargeTable.one_row_per_bag`.
    used : Features
        The columns to learn from.
    """
    preprocessor, search = trained.model[0], trained.model[-1]
    best = inner_estimator(search.best_estimator_)
    make = getattr(distributed, f"Dask{type(best).__name__}", None)
    if make is None:
        raise ValueError(f"{type(best).__name__} has no estimator with Dask")
    kernel = replace(as_kernel(best.kernel), memory_budget=large.memory)
    params = best.get_params(deep=False) | {"kernel": kernel, "client": large.client}
    targets, names = _targets(bags.observed)
    rows = _prepared_rows(large, preprocessor, used.columns, targets)
    model = make(**params).fit(rows, **names)
    local = model.to_local().set_params(kernel=best.kernel)
    local.classes_ = best.classes_  # not the names of the columns
    search.best_estimator_ = local
    is_inexact = bags.observed.is_inexact
    search.class_prior_ = local.class_prior_ if is_inexact else bags.observed.class_prior
    pipeline = Pipeline([("preprocess", preprocessor), (CLASSIFIER, search)])
    _describe(trained, search, bags.observed, model.n_passes_)
    return replace(trained, model=pipeline)


def _targets(observed: Observed) -> tuple[Any, dict[str, Any]]:
    """Return the shares by bag, and the names of their columns as arguments of `fit`."""
    import pandas as pd

    ends = (pd.DataFrame(as_targets(shares)) for shares in known_shares(observed))
    lower, upper = (one.set_axis(observed.ids) for one in ends)
    names = {"y": [f"{LOWER} {k}" for k in lower]}
    table = lower.set_axis(names["y"], axis=1)
    if (lower < upper).to_numpy().any():
        names["upper"] = [f"{UPPER} {k}" for k in upper]
        table[names["upper"]] = upper
    return table, names | {"bags": BAG}


def _describe(trained: TrainedModel, search: Any, observed: Observed, n_passes: int) -> None:
    card, sample, local = trained.card, trained.card["bags"], search.best_estimator_
    classes = list(card["class_shares"])
    card["warnings"].append(
        f"the method, its parameters and the held-out results are from a sample of "
        f"{sample['n_rows']:,} rows in {sample['n_bags']:,} bags; the model was then fitted to all "
        f"rows in {n_passes} passes"
    )
    card["bags"] = summarize_bags(replace(observed, classes=np.array(classes)))
    card["class_shares"] = class_shares(classes, search.class_prior_)
    card["diagnostics"] = diagnostics_of(local)
    card["method"]["n_landmarks"] = n_landmarks(local)


def _prepared_rows(
    large: LargeTable, preprocessor: Any, columns: Sequence[Column], targets: Any
) -> Any:
    """Return the prepared columns, numbered and in single precision, with the bags' shares."""
    dask = import_dask()
    frames: Any = import_module("dask.dataframe")
    rows = large.rows()
    make, shared, known = map(dask.delayed, (_prepare_part, preprocessor, targets))
    parts = [make(part, shared, columns, large, known) for part in rows.to_delayed()]
    meta = _prepare_part(rows._meta, preprocessor, columns, large, targets)
    return frames.from_delayed(parts, meta=meta, verify_meta=False)


def _prepare_part(
    frame: Any, preprocessor: Any, columns: Sequence[Column], large: LargeTable, targets: Any
) -> Any:
    import pandas as pd

    matrix = np.empty((0, len(preprocessor.get_feature_names_out())))
    if len(frame):
        matrix = preprocessor.transform(prepare(frame, columns, table=large.path))
    bags = _bag_names(frame, large.columns.bag)
    known = targets.reindex(bags).reset_index(drop=True).assign(**{BAG: bags})
    return pd.concat([pd.DataFrame(matrix.astype(np.float32)), known], axis=1)


def predict_files(
    predictor: Predictor, path: str, folder: Path, client: str | None, **options: Any
) -> list[str]:
    """Predict every partition of a Parquet table into a file of `folder`; return warnings.

    Parameters
    ----------
    predictor : Predictor
        The model.
    path : str
        A Parquet file or a folder of them.
    folder : Path
        An existing folder for the predictions, one file per partition.
    client : str or None
        The address of a scheduler.
    **options
        `keep`, `proba` and `class_prior`, as in the command.
    """
    rows = read_parquet(path)
    predictor.check_keep(rows, options["keep"], path)
    dask = import_dask()
    write, shared = dask.delayed(_predict_part), dask.delayed(predictor)
    parts = enumerate(rows.to_delayed())
    with connect(client) as engine:
        files = [
            folder / f"part-{number:05}.parquet" for number, _ in enumerate(rows.divisions[1:])
        ]
        tasks = [write(shared, part, files[number], path, **options) for number, part in parts]
        unseen = engine.compute(tasks)
    return replace(predictor, unseen=sum(unseen, Counter())).unseen_in_words()


def _predict_part(
    predictor: Predictor,
    frame: Any,
    file: Path,
    table: str,
    *,
    keep: Sequence[str],
    proba: bool,
    class_prior: Any,
) -> Counter[tuple[str, str]]:
    own = replace(predictor, unseen=Counter())
    if len(frame):
        predictions = own.predict(frame, class_prior=class_prior, table=table)
        own.table_of(frame, predictions, keep, proba=proba).to_parquet(file, index=False)
    return own.unseen
