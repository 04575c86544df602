"""Groups of rows that must not be divided, on their way to the splitter of cross-validation."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)


class GroupedFolds:
    """An estimator whose ``fit`` passes ``groups`` on to the splitter of its parameter ``cv``."""

    cv: Any

    # It is the splitter that asks for groups, so there is nothing that fit itself could request.
    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012 - scikit-learn's form

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who takes what of the metadata that ``fit`` is given.

        Returns
        -------
        MetadataRouter
            Of scikit-learn: the estimator itself, and the splitter of ``cv``.
        """
        own_name = type(self).__name__  # all that older versions of scikit-learn take
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=own_name).add_self_request(self)
        return router.add(splitter=check_cv(self.cv, classifier=True), method_mapping=to_split)

    def _split_arguments(self, groups: ArrayLike | None) -> dict[str, Any]:
        """Return what the splitter is called with beside rows and labels."""
        if groups is None:
            return {}
        if not get_config()["enable_metadata_routing"]:
            return {"groups": groups}
        return dict(process_routing(self, "fit", groups=groups).splitter.split)
