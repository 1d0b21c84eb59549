"""Constants of nature that several parts share, in SI units."""

GRAVITY = 9.81  # m/s^2, standard gravity to three digits, as in the MuJoCo scenes
