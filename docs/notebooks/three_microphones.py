# %% [markdown]
# # Notebook: three_microphones

# %%
print("hello")
