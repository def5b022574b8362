"""Options and parameters under the names that others give them, and names that there are none of."""
import numpy as np
import pytest

import tyche

SMALL = dict(width=8, layers=2, epochs=2, seed=4, device="cpu")


def test_training_takes_common_names(exp):
    others = dict(hidden=8, num_layers=2, epoch=2, random_state=4, learning_rate=1e-3, batch_size=5, device="cpu")
    mine = tyche.train(exp, folds=1, **others)
    same = tyche.train(exp, folds=1, **SMALL, lr=1e-3, batch=5)
    assert mine.config == same.config and np.array_equal(mine.curve("train_loss"), same.curve("train_loss"))
    with pytest.raises(tyche.InputError, match="lr is said twice"):
        tyche.train(exp, folds=1, lr=1e-3, learning_rate=1e-3)


def test_estimators_take_common_names_and_know_their_own(exp):
    clf = tyche.GraphClassifier(hidden=8, num_layers=2, n_epochs=2, random_state=4, learning_rate=1e-3, device="cpu")
    assert (clf.width, clf.layers, clf.epochs, clf.seed, clf.lr) == (8, 2, 2, 4, 1e-3)
    assert "hidden" not in clf.get_params() and clf.set_params(learning_rate=0.5).lr == 0.5
    assert tyche.GraphRegressor(validation=0.3, n_iter_no_change=4).get_params()["validation_fraction"] == 0.3
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    assert clone(clf).get_params() == clf.get_params()
    search = GridSearchCV(tyche.GraphClassifier(**SMALL), {"learning_rate": [1e-3, 1e-2]}, cv=2).fit(exp, exp.labels)
    assert search.best_estimator_.lr in (1e-3, 1e-2)


def test_a_name_that_there_is_none_of_is_a_type_error_that_names_the_nearest(exp):
    for call in (lambda: tyche.GraphClassifier(learnig_rate=1e-3), lambda: tyche.GraphRegressor(leanring_rate=1e-3)):
        with pytest.raises(TypeError, match="did you mean 'lr'"):
            call()
    with pytest.raises(TypeError, match="did you mean 'width'"):
        tyche.GraphClassifier(widht=8)
    with pytest.raises(TypeError, match="no option 'epocs'.*did you mean 'epochs'"):
        tyche.train(exp, epocs=3)
    with pytest.raises(TypeError, match="did you mean 'draws'"):
        tyche.distinguish(exp, drows=3)
    with pytest.raises(tyche.InputError, match="no parameter 'loss'"):  # a ValueError too, as scikit-learn has it
        tyche.GraphClassifier().set_params(loss="mae")
    with pytest.raises(tyche.InputError, match="lr is said twice"):
        tyche.GraphClassifier(lr=1, learning_rate=2)


def test_losses_have_the_names_that_others_give_them(exp):
    sizes = np.diff(exp.ptr.astype(float))
    for name, own in [("mae", "absolute"), ("l1", "absolute"), ("mse", "squared"), ("squared_error", "squared")]:
        reg = tyche.GraphRegressor(loss=name, **SMALL).fit(exp, sizes)
        assert reg.model_.config["training"]["loss"] == own
