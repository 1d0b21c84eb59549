"use strict";
const sound = document.querySelector("audio");
const bounces = [...document.querySelectorAll("g.bounce")];
const drawings = [...document.querySelectorAll("svg")].filter((each) => each.querySelector(".cursor"));
const BEFORE = 0.15; // seconds of lead before a bounce

function play(time) {
  sound.currentTime = Math.max(0, time - BEFORE);
  sound.play();
}

function draw() {
  const start = Number(drawings[0].dataset.from);
  for (const each of drawings) {
    const { left, right, from, to } = each.dataset;
    const share = Math.min(1, (start + sound.currentTime - from) / (to - from));
    const x = Number(left) + share * (right - left);
    const line = each.querySelector(".cursor");
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
  }
  const now = bounces.filter((each) => Math.abs(each.dataset.time - sound.currentTime) < 0.06);
  for (const each of bounces) each.classList.toggle("now", !sound.paused && now.includes(each));
  if (!sound.paused) requestAnimationFrame(draw);
}

for (const each of document.querySelectorAll("[data-time]")) {
  each.addEventListener("click", () => play(Number(each.dataset.time)));
  if (each.localName === "g") {
    each.setAttribute("tabindex", "0");
    each.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        play(Number(each.dataset.time));
      }
    });
  }
}
document.querySelector("select").addEventListener("change", (event) => {
  sound.preservesPitch = false;
  sound.playbackRate = Number(event.target.value);
});
for (const name of ["play", "pause", "seeked", "ended"]) sound.addEventListener(name, draw);
