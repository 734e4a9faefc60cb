"""Files that are not what save writes: refused in one line, and nothing in them runs."""

import io
import json
import operator
import pickle
import struct
import zipfile
from functools import partial

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import decorrupt
from decorrupt import CorrectedLossClassifier, MeanMapClassifier
from decorrupt.atomic import OutputExistsError
from decorrupt.model_files import ModelFileError, load, load_with_metadata, save
from decorrupt.model_files import archive as archive_module
from oracles.payload import LeavesATrace, PickleBomb

CARD = {"made_for": "a test", "shares": [0.5, None, True], "nested": {"ü": -1}}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = CorrectedLossClassifier(kernel="linear").fit(X, [0, 0, 1, 1])
    path = tmp_path_factory.mktemp("whole") / "m.skops"
    save(model, path, CARD)
    return path.read_bytes()


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {info.filename: opened.read(info) for info in opened.infolist()}


def packed(members, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=compression) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return buffer.getvalue()


def with_schema(whole, change):
    members = members_of(whole)
    schema = json.loads(members["schema.json"])
    changed = change(schema)
    return packed(members | {"schema.json": json.dumps(schema if changed is None else changed)})


def dressed(model, whole):
    """Return skops' own file of a model in our envelope, as a forger would make it."""
    members = members_of(skops.io.dumps(model))
    return packed(members | {"decorrupt.json": members_of(whole)["decorrupt.json"]})


def assert_refused(data, tmp_path, message):
    path = tmp_path / "bad.skops"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=message) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_whole_file_is_fine(whole, tmp_path):
    (tmp_path / "m.skops").write_bytes(packed(members_of(whole)))
    model, card = load_with_metadata(tmp_path / "m.skops")
    assert model.predict([[0.0], [3.0]]).tolist() == [0, 1]
    assert card == CARD


def test_a_pickle_by_another_name(tmp_path):
    trace = tmp_path / "trace"
    content = pickle.dumps(PickleBomb(str(trace)))
    assert_refused(content, tmp_path, "pickle, and pickles are not loaded")
    assert not trace.exists()
    pickle.loads(content)  # noqa: S301 — the bomb is real
    assert trace.exists()


def test_a_pickle_as_a_member(whole, tmp_path):
    trace = tmp_path / "trace"
    members = members_of(whole)
    bomb = pickle.dumps(PickleBomb(str(trace)))
    for name in [name for name in members if name.endswith(".npy")]:
        assert_refused(packed(members | {name: bomb}), tmp_path, "damaged")
    array = io.BytesIO()
    np.save(array, np.array([PickleBomb(str(trace))], dtype=object), allow_pickle=True)
    name = next(name for name in members if name.endswith(".npy"))
    assert_refused(packed(members | {name: array.getvalue()}), tmp_path, "an array of object")
    assert not trace.exists()


def test_a_type_of_a_stranger(whole, tmp_path):
    trace = tmp_path / "trace"
    content = dressed(LeavesATrace(str(trace)), whole)
    assert_refused(content, tmp_path, r"LeavesATrace.*No code of the file was run")
    assert not trace.exists()
    members = members_of(content)
    del members["decorrupt.json"]
    skops.io.loads(packed(members), trusted=["oracles.payload.LeavesATrace"])
    assert trace.exists()  # the payload is real


@pytest.mark.parametrize(
    ("stranger", "message"),
    [
        (operator.methodcaller("system", "true"), "operator.methodcaller"),
        (operator.attrgetter("x"), "operator.attrgetter"),
        (partial(print, "x"), "functools.partial"),
        (MeanMapClassifier().problem, "with MethodNode"),
        (print, "builtins.print"),
        (eval, "builtins.eval"),
        (b"bytes", "builtins.bytes"),
        (np.random.default_rng(0), "Generator"),
        (SVC(), "SVC"),
        (HistGradientBoostingClassifier(max_iter=1).fit([[0], [1]], [0, 1]), "TreePredictor"),
        ({True: 1}, "keys of type builtins.bool"),
    ],
    ids=str,
)
def test_strangers_inside_a_model_of_ours(stranger, message, whole, tmp_path):
    model = MeanMapClassifier(kernel=stranger)
    assert_refused(dressed(model, whole), tmp_path, message)
    with pytest.raises(ModelFileError, match=message):
        save(model, tmp_path / "m.skops")
    assert not (tmp_path / "m.skops").exists()


def test_a_pipelines_memory_is_a_directory_of_pickles(whole, tmp_path):
    model = make_pipeline(StandardScaler(), MeanMapClassifier(), memory="/somewhere")
    assert_refused(dressed(model, whole), tmp_path, r"Pipeline\(memory=…\)")
    with pytest.raises(ModelFileError, match=r"Pipeline\(memory=…\)"):
        save(model, tmp_path / "m.skops")


@pytest.mark.parametrize(
    ("loader", "module", "name"),
    [
        ("ConstructorFromReduceNode", "decorrupt.estimators.mean_map", "MeanMapClassifier"),
        ("ListNode", "decorrupt.splitters", "BagKFold"),
        ("NdArrayNode", "decorrupt.model_selection.scorers", "BagScorer"),
        ("FunctionNode", "os", "system"),
        ("TypeNode", "subprocess", "Popen"),
        ("OperatorFuncNode", "operator", "methodcaller"),
        ("CachedNode", "builtins", "str"),
        ("Unheard", "builtins", "str"),
        (None, "builtins", "str"),
        ({"a": 1}, "builtins", "str"),
    ],
)
def test_trusted_types_under_the_wrong_loader(loader, module, name, whole, tmp_path):
    def change(schema):
        attributes = schema["content"]["content"]
        attributes["loss"] = {
            "__loader__": loader,
            "__module__": module,
            "__class__": name,
            "content": [],
        }

    assert_refused(with_schema(whole, change), tmp_path, f"{module}.{name}")


def test_objects_that_blow_up_or_contain_themselves(whole, tmp_path):
    """Ids let a short schema represent a long one: ten lists of ten lists of ten …"""

    def node(identity, content):
        return {
            "__loader__": "ListNode",
            "__module__": "builtins",
            "__class__": "list",
            "__id__": identity,
            "content": content,
        }

    def laughs(schema):
        nested = node(1, [])
        for level in range(2, 30):
            nested = node(level, [nested] + [node(level - 1, []) for _ in range(9)])
        schema["content"]["content"]["loss"] = nested

    assert_refused(with_schema(whole, laughs), tmp_path, "one id for two different objects")

    def itself(schema):
        schema["content"]["content"]["loss"] = node(7, [node(7, [])])

    assert_refused(with_schema(whole, itself), tmp_path, "one id for two different objects")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: [], "describes no object"),
        (lambda schema: schema | {"protocol": 0}, "protocol 0"),
        (lambda schema: schema | {"protocol": 99}, "protocol 99"),
        (lambda schema: schema | {"protocol": "2"}, "protocol '2'"),
        (lambda schema: schema | {"content": None}, "damaged"),
        (lambda schema: schema | {"__id__": [1]}, "damaged"),
        (lambda schema: schema["content"] | {"protocol": 2}, "contains a dict instead of a model"),
    ],
)
def test_schemas_that_are_not_ours(change, message, whole, tmp_path):
    assert_refused(with_schema(whole, change), tmp_path, message)


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000, b"null"])
def test_corrupt_json(content, whole, tmp_path):
    members = members_of(whole)
    for member in ("schema.json", "decorrupt.json"):
        assert_refused(packed(members | {member: content}), tmp_path, f"{member}|no object|damaged")


@pytest.mark.parametrize("member", ["schema.json", "decorrupt.json"])
def test_missing_members(member, whole, tmp_path):
    members = members_of(whole)
    del members[member]
    assert_refused(packed(members), tmp_path, f"no {member}")
    members = members_of(whole)
    members = {name: content for name, content in members.items() if not name.endswith(".npy")}
    assert_refused(packed(members), tmp_path, "damaged")


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/etc/evil.npy", "a/b.npy", "evil.py", "x.pkl", "..", "a\\b.npy"]
)
def test_names_of_members(name, whole, tmp_path):
    assert_refused(packed(members_of(whole) | {name: b"x"}), tmp_path, "it contains the member")
    assert [file.name for file in tmp_path.iterdir()] == ["bad.skops"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_twice_or_packed_strangely(whole, tmp_path):
    buffer = io.BytesIO(whole)
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.writestr("schema.json", "{}")
    assert_refused(buffer.getvalue(), tmp_path, "duplicate members")
    strange = packed(members_of(whole), zipfile.ZIP_BZIP2)
    assert_refused(strange, tmp_path, "unknown compression")


def test_bombs(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_module, "MAX_UNPACKED", 10_000_000)
    bomb = packed(members_of(whole) | {"bomb.npy": bytes(20_000_000)})
    assert len(bomb) < 100_000
    assert_refused(bomb, tmp_path, "more than 10,000,000 bytes of uncompressed data")
    inner = packed({"data.npy": bytes(20_000_000)})
    assert_refused(packed(members_of(whole) | {"b.npz": inner}), tmp_path, "10,000,000 bytes")
    lying = bytearray(bomb)
    place = lying.rindex(b"bomb.npy") - 46  # its entry in the central directory
    lying[place + 24 : place + 28] = struct.pack("<I", 128)
    assert_refused(bytes(lying), tmp_path, "truncated or damaged")


def test_arrays_that_promise_more_than_they_hold(whole, tmp_path):
    members = members_of(whole)
    name = next(name for name in members if name.endswith(".npy"))
    array = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        array, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    assert_refused(
        packed(members | {name: array.getvalue()}), tmp_path, "length differs from its header"
    )


def test_sparse_matrices_whose_indices_point_outside(tmp_path):
    X = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]))
    model = CorrectedLossClassifier().fit(X, [0, 0, 1, 1])
    path = tmp_path / "m.skops"
    save(model, path)
    members = members_of(path.read_bytes())
    name = next(name for name in members if name.endswith(".npz"))
    inner = members_of(members[name])
    indices = np.load(io.BytesIO(inner["indices.npy"]))
    indices[0] = 10**6
    changed = io.BytesIO()
    np.save(changed, indices)
    forged = packed(inner | {"indices.npy": changed.getvalue()})
    assert_refused(packed(members | {name: forged}), tmp_path, "truncated or damaged")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "written by decorrupt .* install"),
        ({"decorrupt": "99.0.0"}, "written by decorrupt 99.0.0"),
        ({"decorrupt": "99"}, "written by decorrupt 99 "),
        ({"format": 0}, "unknown format"),
        ({"format": "1"}, "contains no version"),
        ({"decorrupt": None}, "contains no version"),
        ({"decorrupt": "newest"}, "not a version of decorrupt"),
        ({"metadata": []}, "not written by decorrupt"),
    ],
)
def test_versions(change, message, whole, tmp_path):
    members = members_of(whole)
    envelope = json.loads(members["decorrupt.json"]) | change
    content = packed(members | {"decorrupt.json": json.dumps(envelope)})
    assert_refused(content, tmp_path, message)


def test_the_envelope_says_what_wrote_it(whole):
    envelope = json.loads(members_of(whole)["decorrupt.json"])
    assert envelope == {"format": 1, "decorrupt": decorrupt.__version__, "metadata": CARD}


@given(share=st.floats(0, 1, exclude_max=True))
@settings(max_examples=40)
def test_cut_files(share, whole, tmp_path_factory):
    assert_refused(
        whole[: int(share * len(whole))], tmp_path_factory.mktemp("cut"), "model file|damaged"
    )


@given(content=st.binary(max_size=300))
@settings(max_examples=60)
def test_random_bytes(content, tmp_path_factory):
    assert_refused(content, tmp_path_factory.mktemp("random"), "model file|damaged")
    assert_refused(b"PK\x03\x04" + content, tmp_path_factory.mktemp("random"), "model file|damaged")


@given(place=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
@settings(max_examples=80)
def test_damaged_files(place, change, whole, tmp_path_factory):
    damaged = bytearray(whole)
    damaged[int(place * len(damaged))] ^= change
    path = tmp_path_factory.mktemp("damaged") / "m.skops"
    path.write_bytes(bytes(damaged))
    try:
        model = load(path)
    except ModelFileError:
        return
    assert model.predict([[0.0], [3.0]]).tolist() == [0, 1]


def nodes_of(schema):
    if isinstance(schema, dict):
        yield schema
    parts = (
        schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    )
    for part in parts:
        yield from nodes_of(part)


@given(data=st.data())
@settings(max_examples=100)
@pytest.mark.filterwarnings("ignore")
def test_schemas_changed_at_random(data, whole, tmp_path_factory):
    def change(schema):
        node = data.draw(st.sampled_from(list(nodes_of(schema))))
        key = data.draw(st.sampled_from(sorted(node) or ["content"]))
        nodes = ["DictNode", "ObjectNode", "NdArrayNode", "SliceNode"]
        node[key] = data.draw(st.sampled_from([*nodes, "x", "builtins", "dict", None, 0, [], {}]))

    path = tmp_path_factory.mktemp("changed") / "m.skops"
    path.write_bytes(with_schema(whole, change))
    try:
        assert isinstance(load(path), BaseEstimator)
    except ModelFileError as error:
        assert str(path) in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ([], "must be a dict"),
        ({"a": float("nan")}, r"metadata\['a'\] is nan"),
        ({"a": [{"b": np.float64(1)}]}, r"metadata\['a'\]\[0\]\['b'\] is of type float64"),
        ({"a": (1,)}, "type tuple"),
        ({1: 2}, "keys in JSON must be strings"),
    ],
)
def test_metadata_is_plain_json(metadata, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        save(MeanMapClassifier(), tmp_path / "m.skops", metadata)
    assert not list(tmp_path.iterdir())


def test_only_estimators_are_saved(tmp_path):
    with pytest.raises(ModelFileError, match="expected an estimator, got dict"):
        save({}, tmp_path / "m.skops")


def test_overwriting_is_a_choice(tmp_path):
    path = tmp_path / "m.skops"
    save(MeanMapClassifier(), path)
    with pytest.raises(OutputExistsError):
        save(MeanMapClassifier(), path, force=False)
    save(MeanMapClassifier(reg_strength=5), path)
    assert load(path).reg_strength == 5


def test_no_file(tmp_path):
    with pytest.raises(ModelFileError, match="No such file"):
        load(tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path)
