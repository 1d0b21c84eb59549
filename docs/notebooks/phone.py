# %% [markdown]
# # Notebook: phone

# %%
print("hello")
