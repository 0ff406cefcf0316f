"use strict";
// Zoom, search and keyboard for the page's flame graphs. It reads what the page has, and loads nothing.

/** The frame that calls a frame; null above the root. */
const caller = (frame) => frame.parentElement.closest("[role=treeitem]");

/** The frames that a frame calls and that are shown. */
const callees = (frame) => [...frame.querySelectorAll(":scope > ul > li")].filter((one) => !one.classList.contains("aside"));

/** The frames beside a frame, and itself. */
const siblings = (frame) => [...frame.parentElement.children];

/** Where a key moves the focus from a frame: undefined if it isn't one of our keys. */
const moves = {
  ArrowUp: caller,
  ArrowDown: (frame) => callees(frame)[0],
  ArrowLeft: (frame) => frame.previousElementSibling,
  ArrowRight: (frame) => frame.nextElementSibling,
  Home: (frame) => frame.closest("[role=tree]").firstElementChild,
};

/** Make a frame as wide as the graph, with its callers above it and what it calls below. */
function zoom(graph, frame) {
  for (const one of graph.querySelectorAll(".zoomed, .aside")) one.classList.remove("zoomed", "aside");
  for (let one = frame; one; one = caller(one)) {
    one.classList.add("zoomed");
    for (const other of siblings(one)) if (other !== one) other.classList.add("aside");
  }
  graph.querySelector("button").disabled = !caller(frame);
}

/** A number of instructions as a reader meets it. */
const whole = (number) => number.toLocaleString("en", { maximumFractionDigits: 1 });

/** Mark the functions whose names have a text, and say what they execute with all that they call. */
function find(graph, text) {
  const wanted = text.trim().toLowerCase();
  let count = 0, before = 0, after = 0;
  graph.classList.toggle("searched", wanted !== "");
  for (const frame of graph.querySelectorAll(".frame")) {
    const name = frame.querySelector("span").textContent.toLowerCase();
    const found = wanted !== "" && name.includes(wanted);
    frame.classList.toggle("found", found);
    if (!found) continue;
    count += 1;
    if (caller(frame)?.closest(".found")) continue;  // its caller has counted it
    before += Number(frame.dataset.before);
    after += Number(frame.dataset.after);
  }
  const said = count === 1 ? "1 frame" : `${whole(count)} frames`;
  graph.querySelector("output").textContent = wanted ? `${said}: ${whole(before)} → ${whole(after)}, with all that they call` : "";
}

/** Give a graph its tools. */
function equip(graph) {
  const tree = graph.querySelector("[role=tree]"), said = graph.querySelector(".said");
  const root = tree.firstElementChild;
  let current = root;
  const enter = (frame) => {
    if (!frame) return;
    current.tabIndex = -1;
    current = frame;
    frame.tabIndex = 0;
    frame.focus();
  };
  const say = (event) => {
    const frame = event.target.closest(".frame");
    if (frame) said.textContent = frame.getAttribute("aria-label");
  };
  for (const one of graph.querySelectorAll("[hidden]")) one.hidden = false;
  tree.addEventListener("pointerover", say);
  tree.addEventListener("focusin", say);
  tree.addEventListener("click", (event) => {
    const frame = event.target.closest(".frame");
    if (!frame) return;
    zoom(graph, frame);
    enter(frame);
  });
  tree.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") zoom(graph, current);
    else if (event.key === "Escape") zoom(graph, root);
    else if (Object.hasOwn(moves, event.key)) {
      const next = moves[event.key](current);
      if (next && !next.classList.contains("aside")) enter(next);
    } else return;
    event.preventDefault();
  });
  graph.querySelector("button").addEventListener("click", () => {
    zoom(graph, root);
    enter(root);
  });
  graph.querySelector("input").addEventListener("input", (event) => find(graph, event.target.value));
}

for (const graph of document.querySelectorAll(".flames")) equip(graph);
