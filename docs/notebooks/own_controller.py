# %% [markdown]
# # Notebook: own_controller

# %%
print("hello")
