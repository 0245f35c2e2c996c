"use strict";
(() => {
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));

  for (const block of all("pre.command, .prose pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const text = block.textContent.replace(/\n$/, "");
      let done = true;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const range = document.createRange();
        range.selectNodeContents(block);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        done = document.execCommand("copy");
      }
      button.textContent = done ? "Copied" : "Selected: press Ctrl-C";
    });
    block.after(button);
  }
  addEventListener("beforeprint", () => all("details").forEach((one) => { one.open = true; }));

  const picture = document.querySelector("svg.picture");
  if (!picture) return;
  const { marks, stacks, until } = JSON.parse(document.getElementById("marks").textContent);
  const tools = document.querySelector(".tools");
  const ticks = document.querySelector("svg.ticks");
  const tip = document.getElementById("tip");
  const detail = document.getElementById("detail");
  const WIDTH = 1000;
  const SMALLEST = 0.5;
  const height = picture.viewBox.baseVal.height;
  let from = picture.viewBox.baseVal.x;
  let width = picture.viewBox.baseVal.width;
  let chosen = null;
  tools.hidden = false;

  const show = (at, wide) => {
    width = Math.min(WIDTH, Math.max(SMALLEST, wide));
    from = Math.min(WIDTH - width, Math.max(0, at));
    picture.setAttribute("viewBox", `${from} 0 ${width} ${height}`);
    drawTicks();
  };
  const zoom = (factor, centre = 0.5) => show(from + width * centre * (1 - 1 / factor), width / factor);

  const drawTicks = () => {
    const scale = until / WIDTH;
    const span = width * scale;
    const rough = span / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const apart = [1, 2, 5, 10].map((unit) => unit * power).find((one) => one >= rough);
    const digits = Math.max(0, -Math.floor(Math.log10(apart) + 1e-9));
    const found = [];
    for (let at = Math.ceil((from * scale) / apart - 1e-9) * apart; at <= (from + width) * scale; at += apart) {
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.setAttribute("x", `${(100 * (at - from * scale)) / span}%`);
      text.setAttribute("y", "14");
      text.textContent = `${at.toFixed(digits)} s`;
      found.push(text);
    }
    ticks.replaceChildren(...found);
  };

  const choose = (shape) => {
    if (chosen) chosen.classList.remove("chosen");
    chosen = shape;
    if (!shape) { detail.hidden = true; return; }
    shape.classList.add("chosen");
    const [, text, stack] = marks[Number(shape.dataset.i)];
    const name = shape.closest(".lane").getAttribute("aria-label").split(",")[0];
    detail.hidden = false;
    detail.querySelector("p").textContent = `${name}: ${text}`;
    const block = detail.querySelector("pre");
    block.hidden = stack < 0;
    block.textContent = stack < 0 ? "" : stacks[stack];
  };

  const placeOf = (event) => {
    const box = picture.getBoundingClientRect();
    return (event.clientX - box.left) / box.width;
  };

  let held = null;
  let moved = false;
  picture.addEventListener("pointerdown", (event) => { held = { at: placeOf(event), from }; moved = false; });
  addEventListener("pointerup", () => { held = null; });
  picture.addEventListener("pointermove", (event) => {
    if (held && Math.abs(placeOf(event) - held.at) > 0.004) {
      moved = true;
      show(held.from - (placeOf(event) - held.at) * width, width);
    }
    const mark = event.target.dataset ? event.target.dataset.i : undefined;
    tip.hidden = mark === undefined;
    if (mark === undefined) return;
    tip.textContent = marks[Number(mark)][1];
    tip.style.left = `${Math.min(event.clientX + 12, Math.max(0, innerWidth - 300))}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - 60)}px`;
  });
  picture.addEventListener("pointerleave", () => { tip.hidden = true; });
  picture.addEventListener("click", (event) => {
    if (!moved && event.target.dataset.i !== undefined) choose(event.target);
  });
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    if (event.ctrlKey) zoom(Math.exp(-event.deltaY / 200), placeOf(event));
    else show(from + ((event.deltaX || event.deltaY) / picture.clientWidth) * width, width);
  }, { passive: false });
  for (const button of all("[data-zoom]", tools)) {
    button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom);
      if (factor) zoom(factor); else show(0, WIDTH);
    });
  }

  const goTo = (lane, by) => {
    const shapes = all("[data-i]", lane).filter((one, at, list) => !at || one.dataset.i !== list[at - 1].dataset.i);
    const now = shapes.findIndex((one) => chosen && one.dataset.i === chosen.dataset.i);
    const next = now < 0 ? (by > 0 ? 0 : shapes.length - 1) : Math.min(shapes.length - 1, Math.max(0, now + by));
    if (!shapes[next]) return;
    choose(shapes[next]);
    const at = shapes[next].getBBox().x;
    if (at < from || at > from + width) show(at - width / 2, width);
  };
  picture.addEventListener("keydown", (event) => {
    const lane = event.target.closest(".lane");
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (by && event.shiftKey) show(from + (by * width) / 5, width);
    else if (by && lane) goTo(lane, by);
    else if (event.key === "+" || event.key === "=") zoom(2);
    else if (event.key === "-") zoom(0.5);
    else if (event.key === "0") show(0, WIDTH);
    else if (event.key === "Escape") choose(null);
    else return;
    event.preventDefault();
  });
})();
