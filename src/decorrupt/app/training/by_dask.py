"""Training and prediction on Parquet files that do not fit in memory, with Dask.

The columns, the method and its parameters are chosen on a sample of whole bags, which is trained
and judged like any table. Then the chosen method is fitted again to all rows, in partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from decorrupt import distributed
from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import Column, Features
from decorrupt.app.training.predict import Predictor
from decorrupt.app.training.preprocess import prepare
from decorrupt.app.training.results import plain
from decorrupt.app.training.summary import summarize_bags
from decorrupt.app.training.train import (
    CLASSIFIER,
    TrainedModel,
    diagnostics_of,
    inner_estimator,
    n_landmarks,
)
from decorrupt.corruption import pooled_proportion
from decorrupt.corruption.strata import two_classes
from decorrupt.distributed.engine import connect, import_dask
from decorrupt.distributed.sample import share_by_bag
from decorrupt.distributed.summary import BagTable

# Enough to choose a method; about a minute of training.
SAMPLE_ROWS = 20_000
# --method that have an estimator with Dask.
DASK_METHODS = ("mean-map", "corrected-loss", "count-likelihood")


@dataclass(frozen=True)
class LargeTable:
    """A Parquet file, or a folder of them, with the proportions of bags in its rows.

    Attributes
    ----------
    path : str
        The file or folder.
    columns : BagColumns
        The columns that describe bags.
    client : str or None
        The address of a scheduler; None for Dask's threads.
    memory : str or None
        What partitions may take in memory, such as "2GB".
    """

    path: str
    columns: BagColumns
    client: str | None = None
    memory: str | None = None

    @property
    def shares(self) -> list[str]:
        """The columns with the proportions of the bags."""
        one = self.columns.proportion
        return [one] if one is not None else list(self.columns.proportions)

    def rows(self) -> Any:
        """Return the rows as a Dask dataframe."""
        return read_parquet(self.path)

    def bags(self) -> BagTable:
        """Return the bags of all rows: one pass over two columns."""
        bag, shares = self.columns.bag, self.shares
        grouped = self.rows()[[bag, *shares]].groupby(bag, dropna=False)
        with connect(self.client) as engine:
            first, sizes = engine.compute([grouped[shares].first(), grouped.size()])
        proportions = first.to_numpy(dtype=float)
        if len(shares) == 1:
            proportions = proportions[:, 0]
        table = BagTable.of(first.index.to_numpy(), proportions, sizes.loc[first.index].to_numpy())
        return BagTable.of(table.ids, two_classes(table).proportions, table.sizes)

    def write_sample(self, path: Path, bags: BagTable, seed: int) -> None:
        """Write about SAMPLE_ROWS rows of randomly chosen bags to a Parquet file."""
        share = share_by_bag(bags.sizes, seed, SAMPLE_ROWS)
        by_bag = dict(zip(bags.ids.tolist(), share.tolist(), strict=True))
        dask = import_dask()
        parts = self.rows().to_delayed()
        draw, known = dask.delayed(_draw), dask.delayed(by_bag)
        with connect(self.client) as engine:
            found = engine.compute(
                [draw(part, self.columns.bag, known, [seed, k]) for k, part in enumerate(parts)]
            )
        import pandas as pd

        pd.concat(found, ignore_index=True).to_parquet(path, index=False)


def read_parquet(path: str) -> Any:
    """Return a Parquet file or a folder of them as a Dask dataframe.

    Raises
    ------
    TableError
        If there is none, or it cannot be read.
    """
    import_dask()
    import dask.dataframe as dd

    place = Path(path).expanduser()
    files = sorted(map(str, place.glob("*.parquet"))) if place.is_dir() else [str(place)]
    if not place.exists() or not files:
        raise TableError(f"{path}: there is no such Parquet file or folder of *.parquet files")
    if not all(file.endswith(".parquet") for file in files):
        raise TableError(f"{path}: --engine dask reads a *.parquet file or a folder of them")
    try:
        return dd.read_parquet(files)
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot be read as Parquet: {error}") from None


def _draw(frame: Any, bag: str, share: Mapping[Any, float], seed: Sequence[int]) -> Any:
    known = frame[bag].map(share).fillna(1.0).to_numpy(dtype=float)
    return frame[np.random.default_rng(seed).random(len(frame)) < known]


def refit(trained: TrainedModel, large: LargeTable, bags: BagTable, used: Features) -> TrainedModel:
    """Return the model with its classifier fitted to all rows, and a card that says so.

    Parameters
    ----------
    trained : TrainedModel
        Of the sample.
    large : LargeTable
        All rows.
    bags : BagTable
        The bags of all rows.
    used : Features
        The columns to learn from.
    """
    preprocessor, search = trained.model[0], trained.model[-1]
    best = inner_estimator(search.best_estimator_)
    make = getattr(distributed, f"Dask{type(best).__name__}", None)
    if make is None:
        raise ValueError(f"{type(best).__name__} has no estimator with Dask")
    params = best.get_params(deep=False) | {"memory_budget": large.memory, "client": large.client}
    rows = _prepared_rows(large, preprocessor, used.columns)
    y = large.shares if len(large.shares) > 1 else large.shares[0]
    model = make(**params).fit(rows, y, bags=large.columns.bag)
    search.best_estimator_ = model.to_local().set_params(memory_budget=None)
    search.training_prior_ = pooled_proportion(bags.sizes, bags.proportions)
    pipeline = Pipeline([("preprocess", preprocessor), (CLASSIFIER, search)])
    _describe(trained, search, bags, model.n_passes_)
    return replace(trained, model=pipeline)


def _describe(trained: TrainedModel, search: Any, bags: BagTable, n_passes: int) -> None:
    card, sample = trained.card, trained.card["bags"]
    local, prior = search.best_estimator_, search.training_prior_
    classes = list(card.get("class_shares", ()))
    card["warnings"].append(
        f"the method, its parameters and the held-out results are from a sample of "
        f"{sample['n_rows']:,} rows in {sample['n_bags']:,} bags; the model was then fitted to all "
        f"rows in {n_passes} passes"
    )
    card["bags"] = summarize_bags(bags, classes)
    card["diagnostics"] = diagnostics_of(local)
    card["method"]["n_landmarks"] = n_landmarks(local)
    if classes:
        card["class_shares"] = dict(zip(classes, plain(prior), strict=True))
    else:
        card["training_prior"] = prior


def _prepared_rows(large: LargeTable, preprocessor: Any, columns: Sequence[Column]) -> Any:
    """Return the prepared columns, numbered and in single precision, with the bags' columns."""
    dask = import_dask()
    frames: Any = import_module("dask.dataframe")
    rows = large.rows()
    make, shared = dask.delayed(_prepare_part), dask.delayed(preprocessor)
    parts = [make(part, shared, columns, large) for part in rows.to_delayed()]
    meta = _prepare_part(rows._meta, preprocessor, columns, large)
    return frames.from_delayed(parts, meta=meta, verify_meta=False)


def _prepare_part(
    frame: Any, preprocessor: Any, columns: Sequence[Column], large: LargeTable
) -> Any:
    import pandas as pd

    n_columns = len(preprocessor.get_feature_names_out())
    matrix = np.empty((0, n_columns))
    if len(frame):
        matrix = preprocessor.transform(prepare(frame, columns, table=large.path))
    prepared = pd.DataFrame(matrix.astype(np.float32), index=frame.index)
    kept = [large.columns.bag, *large.shares]
    return pd.concat([prepared, frame[kept]], axis=1)


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
