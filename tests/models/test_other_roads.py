"""pickle, joblib and skops also carry a fitted model, certificates and all."""

import io
import pickle

import joblib
import numpy as np
import pytest
import skops.io
from tests.models.fitted import OPTIONS, data, fit, same_certificates

# What skops asks about: our own classes, which hold nothing but arrays and numbers.
OURS = {
    "hinge.certificates.settled.OptimumRegion",
    "hinge.estimators.linear_svc.LinearSVC",
    "hinge.result.Certificate",
    "hinge.result.Point",
    "hinge.result.Solution",
    "hinge.result.Status",
    "hinge.result.Trace",
    "hinge.result.TraceRecord",
}


def through_pickle(model):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def through_skops(model):
    content = skops.io.dumps(model)
    asked = set(skops.io.get_untrusted_types(data=content))
    assert asked <= OURS
    return skops.io.loads(content, trusted=sorted(asked))


@pytest.mark.parametrize("road", [through_pickle, through_joblib, through_skops])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("kind", ["text", "bool", "object"])
def test_a_model_comes_back_the_same(road, options, kind):
    X, y = data(kind)
    model = fit(X, y, **options)
    copy = road(model)
    assert np.array_equal(copy.decision_function(X), model.decision_function(X))
    assert np.array_equal(copy.predict(X), model.predict(X))
    assert np.array_equal(copy.settled(X), model.settled(X))
    assert same_certificates(copy, model)
    assert copy.data_fingerprint_ == model.data_fingerprint_
