# %% [markdown]
# # Notebook: own_simulator

# %%
print("hello")
