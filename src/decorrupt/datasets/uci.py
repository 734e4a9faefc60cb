"""The paper's seven data sets and Adult, from a local tidy file or from the UCI repository.

A tidy file is a CSV with a header row; the last column, `label`, is the class.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ENVIRONMENT_VARIABLE = "DECORRUPT_DATA"
TIMEOUT_SECONDS = 30
UCI_LICENCE = "CC BY 4.0"
ARCHIVES = "https://archive.ics.uci.edu/static/public/"
# No connection, wrong sha256, not a zip archive, a damaged archive, a missing member.
DOWNLOAD_ERRORS = (OSError, ValueError, zipfile.BadZipFile, zlib.error, LookupError)


class RawFile(NamedTuple):
    """A file at UCI and its format: one line per row, no header."""

    archive: str  # under ARCHIVES
    member: str
    features: Sequence[str]
    separator: str | None = None  # None for whitespace
    label_first: bool = False


class Source(NamedTuple):
    """Description of one data set."""

    n_features: int
    positive_classes: tuple[str, ...]
    reference: str
    page: str
    sha256: str  # of the uncompressed CSV: gzip output differs between systems
    raw: RawFile | None = None  # None if UCI has a spreadsheet or several files


def _numbered(prefix: str, count: int, digits: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{k:0{digits}}" for k in range(1, count + 1))


GERMAN_REFERENCE = "Hofmann, H. (1994). Statlog (German Credit Data)"
GERMAN_PAGE = "https://doi.org/10.24432/C5NC77"
GERMAN_ARCHIVE = "144/statlog+german+credit+data.zip"

UCI_SOURCES: dict[str, Source] = {
    "adult": Source(
        n_features=14,
        positive_classes=(">50K",),
        reference="Becker, B. & Kohavi, R. (1996). Adult",
        page="https://doi.org/10.24432/C5XW20",
        sha256="404ef8e33ffa49bbee81e13e867f19b2cac5c0058f5d5cfaa964801c2fc2a9a9",
    ),
    "banknote": Source(
        n_features=4,
        positive_classes=("0",),
        reference="Lohweg, V. (2012). Banknote Authentication",
        page="https://doi.org/10.24432/C55P57",
        sha256="5285d6869ffbb776a3393b0844dae7f66aaf1b067a0e1ad70f25749e4e4392ee",
        raw=RawFile(
            "267/banknote+authentication.zip",
            "data_banknote_authentication.txt",
            ("variance", "skewness", "curtosis", "entropy"),
            separator=",",
        ),
    ),
    "cardiotocography": Source(
        n_features=21,
        positive_classes=("2", "3"),
        reference="Campos, D. & Bernardes, J. (2000). Cardiotocography",
        page="https://doi.org/10.24432/C51S4N",
        sha256="332f5e98ed869cc8824fcc11a7607d4662ba6a23c2a86caf9f6ba8982a847d88",
    ),
    "cnae": Source(
        n_features=856,
        positive_classes=("1",),
        reference="Ciarelli, P. & Oliveira, E. (2009). CNAE-9",
        page="https://doi.org/10.24432/C51G7P",
        sha256="6fb00389470413cdc873e3f9adbcf6ae1d5179c213b46e11d0368ca98365de2e",
        raw=RawFile(
            "233/cnae+9.zip",
            "CNAE-9.data",
            _numbered("w", 856, 3),
            separator=",",
            label_first=True,
        ),
    ),
    "contraceptive": Source(
        n_features=9,
        positive_classes=("1",),
        reference="Lim, T.-S. (1999). Contraceptive Method Choice",
        page="https://doi.org/10.24432/C59W2D",
        sha256="7b565e905b4dd0a023380bcd299989188454b50d95a46dfceee4eb49b8793280",
        raw=RawFile(
            "30/contraceptive+method+choice.zip",
            "cmc.data",
            [
                "wife_age",
                "wife_education",
                "husband_education",
                "n_children",
                "wife_religion",
                "wife_working",
                "husband_occupation",
                "living_standard",
                "media_exposure",
            ],
            separator=",",
        ),
    ),
    "german": Source(
        n_features=24,
        positive_classes=("2",),
        reference=GERMAN_REFERENCE,
        page=GERMAN_PAGE,
        sha256="0ae9fd7a48c943d936f2a7c43f7f40cd977a3fab8e0f616cddafdfaf55365ada",
        raw=RawFile(GERMAN_ARCHIVE, "german.data-numeric", _numbered("a", 24, 2)),
    ),
    "german_categorical": Source(
        n_features=20,
        positive_classes=("2",),
        reference=GERMAN_REFERENCE,
        page=GERMAN_PAGE,
        sha256="8d420aeb4e1ecda111abece0afcc03f3a04d9c98e42c41efcfe54fd571641a59",
        raw=RawFile(
            GERMAN_ARCHIVE,
            "german.data",
            [
                "checking_status",
                "duration_months",
                "credit_history",
                "purpose",
                "credit_amount",
                "savings",
                "employment_since",
                "installment_rate",
                "personal_status_sex",
                "other_debtors",
                "residence_since",
                "property",
                "age",
                "other_installments",
                "housing",
                "n_credits",
                "job",
                "n_liable",
                "telephone",
                "foreign_worker",
            ],
        ),
    ),
    "sports": Source(
        n_features=59,
        positive_classes=("objective",),
        reference="Rizk, Y. & Awad, M. (2018). Sports Articles for Objectivity Analysis",
        page="https://archive.ics.uci.edu/dataset/450/sports+articles+for+objectivity+analysis",
        sha256="897a2f71fb4ce26c2c9d18ecef098e206f076d6f16c304e666401b9b34dab15e",
    ),
    "wireless": Source(
        n_features=7,
        positive_classes=("1",),
        reference="Bhatt, R. (2017). Wireless Indoor Localization",
        page="https://doi.org/10.24432/C51880",
        sha256="20ad906cfa0b528791daf763fa11e486bdd250488cee892f44167eb4fd52bce9",
        raw=RawFile(
            "422/wireless+indoor+localization.zip",
            "wifi_localization.txt",
            _numbered("ws", 7, 1),
        ),
    ),
}
UCI_NAMES = tuple(UCI_SOURCES)


@dataclass(frozen=True, eq=False)
class UciDataset:
    """A data set as a binary task.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Floats; for adult and german_categorical an object array with codes as strings, numbers as
        floats and NaN for missing values.
    y : ndarray of int, shape (n_rows,)
        1 if the original class is one of `positive_classes`, else 0.
    original_classes : ndarray of str, shape (n_rows,)
        The original class of each row, for tasks with several classes.
    feature_names : tuple of str
        The columns of X.
    name : str
        As given to :func:`fetch_uci`.
    positive_classes : tuple of str
        The original classes that count as positive.
    citation : str
        Reference, page and licence, to be shown with the data.
    """

    X: NDArray[Any]
    y: NDArray[np.int_]
    original_classes: NDArray[np.str_]
    feature_names: tuple[str, ...]
    name: str
    positive_classes: tuple[str, ...]
    citation: str


def fetch_uci(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> UciDataset:
    """Return one of the paper's seven data sets, or Adult, as a binary task.

    y = 1{class is positive}.

    The file `<name>.csv.gz` or `<name>.csv` is searched for in `data_home`, in the directory of the
    environment variable DECORRUPT_DATA, and in the user's cache ($XDG_CACHE_HOME/decorrupt or
    ~/.cache/decorrupt). If it is not found, the data are downloaded from UCI (this needs
    ``pip install 'decorrupt[datasets]'``), converted and stored in `data_home` or the cache. Every
    file is checked against its known sha256.

    Parameters
    ----------
    name : str
        banknote, cardiotocography, cnae, contraceptive, german, sports or wireless;
        german_categorical (german with its 20 original attributes); or adult.
    data_home : path, optional
        The directory to search first, and to write to.
    download_if_missing : bool, default=True
        Whether to download from UCI. This does not work for cardiotocography and sports
        (spreadsheets) and adult (two files): copy their CSV files into the directory yourself.

    Raises
    ------
    ValueError
        If the name is unknown.
    OSError
        If there is no file and it cannot be downloaded (the message names the paths searched, the
        page of the data and the format of the file), or if a file has the wrong sha256.
    """
    if name not in UCI_SOURCES:
        raise ValueError(f"unknown data set {name!r}: choose one of {', '.join(UCI_NAMES)}")
    folders = _folders(data_home)
    paths = [folder / f"{name}.csv{packed}" for folder in folders for packed in (".gz", "")]
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        store_in = folders[-1 if data_home is None else 0]
        found = _download(name, store_in, paths, download_if_missing)
    return _parse(name, _read_checked(found, UCI_SOURCES[name]).decode())


def _folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """Return the directories to search, in this order; the cache is last."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    given = [data_home, os.environ.get(ENVIRONMENT_VARIABLE)]
    return [*(Path(folder).expanduser() for folder in given if folder), Path(cache, "decorrupt")]


def _read_checked(path: Path, source: Source) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise OSError(f"{path} is damaged ({error}). Remove it or replace it") from error
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise OSError(
            f"{path} is damaged or another version: expected sha256 {source.sha256} of the CSV "
            f"(uncompressed), found {found}. Remove it or replace it"
        )
    return content


def _download(name: str, folder: Path, paths: list[Path], download_if_missing: bool) -> Path:
    """Return the downloaded file, or raise OSError that explains how to provide it."""
    source = UCI_SOURCES[name]
    if not download_if_missing:
        reason: str | Exception = "download_if_missing is False"
    elif source.raw is None:
        reason = "its format at UCI is not supported"
    else:
        try:
            return _retrieve_tidy(name, source.raw, folder)
        except ImportError:
            reason = "downloads need pooch: pip install 'decorrupt[datasets]'"
        except DOWNLOAD_ERRORS as error:
            reason = error
    message = (
        f"the data set {name!r} is not at {' nor at '.join(map(str, paths))}, and was not "
        f"downloaded ({reason}). Its page is {source.page}; the file must be a CSV with a header "
        f"row, {source.n_features} features and the class in the last column, 'label'"
    )
    raise OSError(message) from (reason if isinstance(reason, Exception) else None)


def _retrieve_tidy(name: str, raw: RawFile, folder: Path) -> Path:
    import pooch

    def write_tidy(url: str, output_file: str, _: Any) -> None:
        """Write UCI's file in tidy form; pooch checks the sha256 of this file."""
        archive = io.BytesIO()
        # Without a stream the connection is closed even where the server refuses.
        pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS, stream=False)(url, archive, None)
        text = zipfile.ZipFile(archive).read(raw.member).decode("latin-1")
        Path(output_file).write_bytes(tidy(text, raw))

    stored = pooch.retrieve(
        ARCHIVES + raw.archive,
        known_hash=f"sha256:{UCI_SOURCES[name].sha256}",
        fname=f"{name}.csv",
        path=folder,
        downloader=write_tidy,
    )
    return Path(stored)


def tidy(text: str, raw: RawFile) -> bytes:
    """Return UCI's rows as a tidy CSV: a header row, the features, `label` last."""
    rows = [
        [cell.strip() for cell in line.split(raw.separator)]
        for line in text.splitlines()
        if line.strip()
    ]
    if raw.label_first:
        rows = [[*row[1:], row[0]] for row in rows]
    columns = [_same_number_format(column) for column in zip(*rows, strict=False)]
    lines = [(*raw.features, "label"), *zip(*columns, strict=True)]
    return "".join(",".join(line) + "\n" for line in lines).encode()


def _same_number_format(column: tuple[str, ...]) -> tuple[str, ...]:
    """Write all numbers of a column as floats if one of them has a decimal point."""
    if not any("." in cell for cell in column):
        return column
    try:
        return tuple(repr(float(cell)) for cell in column)
    except ValueError:
        return column


def _parse(name: str, text: str) -> UciDataset:
    source = UCI_SOURCES[name]
    header, *rows = csv.reader(io.StringIO(text))
    cells = np.array(rows)
    return UciDataset(
        X=_features(cells[:, :-1]),
        y=np.isin(cells[:, -1], source.positive_classes).astype(int),
        original_classes=cells[:, -1],
        feature_names=tuple(header[:-1]),
        name=name,
        positive_classes=source.positive_classes,
        citation=(
            f"{source.reference}. UCI Machine Learning Repository. {source.page} ({UCI_LICENCE})"
        ),
    )


def _features(cells: NDArray[np.str_]) -> NDArray[Any]:
    try:
        return cells.astype(float)
    except ValueError:  # codes among the numbers
        features = cells.astype(object)
        for k, column in enumerate(cells.T):
            if not any(cell[:1].isalpha() for cell in column):
                features[:, k] = column.astype(float)
        features[cells == ""] = np.nan
        return features
