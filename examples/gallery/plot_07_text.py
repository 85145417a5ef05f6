"""
Text: whose documentation is this?
==================================

Docstrings of three packages are known, those of a fourth are not. Words become columns by TF-IDF and ten singular
vectors, of the labelled texts alone; any other embedding does as well.
"""

import inspect

import numpy as np
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.stats
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from vbrand import VBrand
from vbrand.metrics import confusion


def texts(module):
    """Return the docstrings of the functions of a module."""
    found = [inspect.getdoc(getattr(module, name)) or "" for name in sorted(module.__all__)]
    return [text for text in found if len(text) > 400]


modules = {"linalg": scipy.linalg, "ndimage": scipy.ndimage, "stats": scipy.stats, "optimize": scipy.optimize}
documents = {name: texts(module) for name, module in modules.items()}
text = np.array([one for several in documents.values() for one in several], dtype=object)
origin = np.repeat(list(documents), [len(several) for several in documents.values()])
labelled = (origin != "optimize") & (np.arange(origin.size) % 2 == 0)

embed = make_pipeline(TfidfVectorizer(stop_words="english", min_df=3), TruncatedSVD(10, random_state=0))
embed.fit(text[labelled])
found = (
    VBrand(random_state=0)
    .fit(embed.transform(text[labelled]), origin[labelled])
    .discover(embed.transform(text[~labelled]))
)
print(found.summary())
print(confusion(origin[~labelled], found))

# %%
found.plot.map()
