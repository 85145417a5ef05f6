"""
The sampler beside the fit
==========================

``VBrand`` approximates a posterior; ``BrandSampler`` draws from it, which takes longer and tells how sure the
number of groups is. Both have one Gaussian per class here, so that they answer the same question.
"""

from sklearn.datasets import load_iris

from vbrand import BrandSampler, VBrand, compare

table = load_iris(as_frame=True)
rows, kind = table.data, table.target_names[table.target]
labelled = (kind != "virginica") & (rows.index % 2 == 0)

sampler = BrandSampler(n_burn=500, n_draws=1_000, random_state=0).fit(rows[labelled], kind[labelled])
exact = sampler.discover(rows[~labelled])
print(exact.diagnostics)

# %%
fitted = VBrand(kernel="gaussian", scatter="mrcd", check=0, random_state=0)
fitted = fitted.fit(rows[labelled], kind[labelled]).discover(rows[~labelled])
print(compare(fitted, exact))

# %%
exact.plot.map()
