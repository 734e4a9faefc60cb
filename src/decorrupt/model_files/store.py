"""Save and load models without pickle; only types of a fixed list are loaded."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

from decorrupt.atomic import atomic_write
from decorrupt.model_files.envelope import (
    MEMBER,
    ModelFileError,
    UntrustedTypesError,
    make_envelope,
    read_envelope,
)
from decorrupt.model_files.trusted import trusted_types

SCHEMA = "schema.json"
WHAT_TO_DO = (
    "Around EM and label-dependent costs use trees, forests, linear models or naive Bayes of "
    "scikit-learn. Or save this model with joblib.dump, and load such a file only if you trust "
    "where it comes from"
)


def save(
    model: Any,
    path: str | os.PathLike[str],
    metadata: dict[str, Any] | None = None,
    *,
    force: bool = True,
) -> None:
    """Save a model to one file that :func:`load` reads.

    The file is a skops archive that also contains `metadata`. The archive is loaded as a check
    before it is written, so that a model that cannot be loaded is never saved.

    Parameters
    ----------
    model : estimator
        A classifier of decorrupt, or a pipeline or search around one.
    path : path
        The file, usually with the extension ``.skops``. It is written atomically.
    metadata : dict, optional
        Information about the model, in plain JSON.
    force : bool, default=True
        Whether an existing file may be replaced.

    Raises
    ------
    ModelFileError
        If the model contains types outside the fixed list (the message names them), or `metadata`
        is not plain JSON.
    OutputExistsError
        If the file exists and `force` is False.

    Notes
    -----
    The file of a kernel model contains rows of the training data, its landmarks.

    Examples
    --------
    >>> import tempfile
    >>> from decorrupt import CorrectedLossClassifier
    >>> path = Path(tempfile.mkdtemp(), "model.skops")
    >>> model = CorrectedLossClassifier(kernel="linear").fit([[0.0], [1.0]], [0, 1])
    >>> save(model, path, {"made_for": "an example"})
    >>> load_with_metadata(path)
    (CorrectedLossClassifier(kernel='linear'), {'made_for': 'an example'})
    """
    envelope = make_envelope(metadata)
    data = _packed(model, str(path), envelope)
    try:
        _restore(data, f"the file for {path}")
    except UntrustedTypesError as error:
        raise ModelFileError(f"{error}. {WHAT_TO_DO}") from None
    with atomic_write(path, force=force) as temporary:
        temporary.write_bytes(data)


def _packed(model: Any, name: str, envelope: str) -> bytes:
    import skops.io
    from sklearn.base import BaseEstimator

    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"{name}: expected an estimator, got {type(model).__name__}")
    buffer = io.BytesIO()
    try:
        skops.io.dump(model, buffer, compression=zipfile.ZIP_DEFLATED)
    except (TypeError, ValueError, AttributeError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{name}: the model cannot be stored: {reason}") from error
    with zipfile.ZipFile(buffer, "a", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, envelope)
    return buffer.getvalue()


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model in a file that :func:`save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Raises
    ------
    ModelFileError
        If the file contains a type outside the fixed list (the message names it), or is truncated,
        damaged, not a model file, or from a newer decorrupt. No code of the file is run.

    Examples
    --------
    >>> import decorrupt
    >>> model = decorrupt.MeanMapClassifier(kernel="linear")
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0.1, 0.1, 0.9, 0.9], bags=[0, 0, 1, 1])
    MeanMapClassifier(kernel='linear')
    >>> folder = getfixture("tmp_path")  # any folder of yours
    >>> decorrupt.save(model, folder / "model.skops")
    >>> decorrupt.load(folder / "model.skops").predict([[2.5]]).tolist()
    [1]
    """
    return load_with_metadata(path)[0]


def load_with_metadata(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Return the model in a file and its metadata.

    Parameters and errors are those of :func:`load`.
    """
    return _restore(_read(path), str(path))


def _read(path: str | os.PathLike[str]) -> bytes:
    from decorrupt.model_files.archive import MAX_UNPACKED

    file = Path(path)
    try:
        if file.stat().st_size > MAX_UNPACKED:
            raise ModelFileError(f"{path} is larger than {MAX_UNPACKED:,} bytes")
        return file.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from None


def _restore(data: bytes, name: str) -> tuple[Any, dict[str, Any]]:
    from sklearn.base import BaseEstimator

    from decorrupt.model_files.archive import check_arrays, read_json, read_members
    from decorrupt.model_files.audit import check_schema
    from decorrupt.model_files.trees import check_trees

    members = read_members(data, name)
    metadata = read_envelope(read_json(members, MEMBER, name), name)
    schema = read_json(members, SCHEMA, name)
    try:
        check_schema(schema, name)
        check_arrays(members, name)
        check_trees(schema, members, name)
    except RecursionError:
        raise ModelFileError(f"{name} is damaged: nested too deeply") from None
    model = _construct(data, name)
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"{name} contains a {type(model).__name__} instead of a model")
    return model, metadata


def _construct(data: bytes, name: str) -> Any:
    import skops.io

    trusted = sorted(frozenset().union(*trusted_types().values()))
    try:
        return skops.io.loads(data, trusted=trusted)
    except Exception as error:  # invalid content can make a class raise anything
        reason = " ".join(str(error).split())
        raise ModelFileError(
            f"{name} is damaged: {type(error).__name__} while building the model ({reason})"
        ) from error
