// The page's what-if part: ticks, sorting, filters, the mix, and what they change on the page.
//
// All text goes in by textContent, so no name can act on the page. Without this script the part
// stays hidden, and the rest of the page is whole.

import { decoded, encoded, mixed, profileFile, switched, totals, unpacked, weighted } from "./choice.js";

const DEAREST = 3;
const WORTH = 1 / 20; // the least share of a cost that is worth a decision of its own
const CHANCE = " (~0)";
const YOURS = "the average call of your mix";
const MEASURE = "smaller than the noise; measure it";
const BASIS = {
  none: "This is what everything is compared with.",
  measured: "Measured: a trial of the bill had just these controls.",
  fitted:
    "Predicted, not measured: what the bill measured fits costs that add up, plus one that all controls share. To measure it, download the choice and bill it.",
  bounded:
    "Predicted, not measured: in any company, a control is taken to cost between what it costs alone and what leaving it out of the whole profile saves. To measure it, download the choice and bill it.",
};

/** @type {(id: string) => any} */
const element = (id) => document.getElementById(id);

const bill = unpacked(JSON.parse(element("bill-data").textContent));
const whole = bill.controls.map(() => true);
const usual = bill.weights;
const collator = new Intl.Collator("en", { numeric: true });

/** What the user chose; `weights` is null for those that the bill is ordered by. */
const state = { on: whole, weights: null, sort: "cost", down: true };

/** The elements that change, made once: a row for each control and each metric. */
const rows = { controls: [], metrics: [] };

// Words and numbers

/** @type {(value: number, digits: number) => string} */
function number(value, digits) {
  if (value === 0) return "0";
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const text = value.toLocaleString("en", format);
  return /[1-9]/.test(text) ? text : text.replace("-", "");
}

/** @type {(value: number, digits: number) => string} */
function signed(value, digits) {
  const text = number(value, digits);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** @type {(share: number) => string} */
const percent = (share) =>
  Number.isFinite(share) ? `${signed(100 * share, Math.abs(share) < 1 ? 1 : 0)}%` : "n/a";

/** @type {(low: number, high: number, show: (value: number) => string) => string} */
function range(low, high, show) {
  return show(low) === show(high) ? show(low) : `${show(low)} to ${show(high)}`;
}

/** @type {(amount: number) => string} */
const controls = (amount) => (amount === 1 ? "1 control" : `${number(amount, 0)} controls`);

/** @type {(parts: string[]) => string} */
const listed = (parts) =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

/** Return the chosen mix: its weights, its name, its unit, its baseline. */
function mix() {
  const given = state.weights ?? usual;
  const chosen = bill.metrics.filter((_, m) => given[m]);
  const single = chosen.length === 1;
  const sum = given.reduce((all, weight) => all + weight, 0);
  const weights = given.map((weight) => weight / sum);
  return {
    weights,
    name: single ? chosen[0].name : state.weights ? YOURS : bill.average,
    unit: single ? chosen[0].unit : chosen[0].sum,
    digits: single ? chosen[0].digits : Math.max(1, ...chosen.map((metric) => metric.digits)),
    baseline: weighted(bill.metrics.map((metric) => metric.baseline), weights),
    cost: weighted(bill.metrics.map((metric) => metric.cost), weights),
  };
}

/** Say what is added to the mix: `add 12 to 15 instructions (+2.0% to +2.5%) to open`. */
function added({ low, high }, of, several) {
  const verb = several ? "add" : "adds";
  const amount = range(low, high, (value) => number(value, of.digits));
  const share = range(low, high, (value) => percent(value / of.baseline));
  return `${verb} ${amount} ${of.unit} (${share}) to ${of.name}`;
}

// The first screen

function showAnswer() {
  const of = mix();
  const all = controls(bill.controls.length);
  element("mix-answer").textContent = `All ${all} ${added({ low: of.cost, high: of.cost }, of, true)}.`;
  const costs = bill.controls.map(({ cost, sure }) =>
    weighted(cost, of.weights.map((weight, m) => (sure[m] ? weight : 0))),
  );
  const order = bill.controls.map((_, index) => index).toSorted((a, b) => costs[b] - costs[a]);
  const dearest = order.slice(0, DEAREST).filter((index) => costs[index] > 0);
  showDearest(dearest, costs, of);
  showAdvice(dearest.filter((index, nth) => !nth || costs[index] >= WORTH * of.cost), of);
}

function showDearest(dearest, costs, of) {
  const section = element("dearest");
  if (!section) return;
  section.querySelector("h2").textContent = `The most expensive controls, by their cost on ${of.name}`;
  section.querySelector("ol").replaceChildren(
    ...dearest.map((index) => {
      const share = percent(costs[index] / of.cost).replace("+", "");
      const cost = made("p", "cost", `${signed(costs[index], of.digits)} ${of.unit}, ${share} of it`);
      const bar = made("span", "bar");
      bar.style.width = `${(100 * costs[index]) / costs[dearest[0]]}%`;
      cost.append(bar);
      const name = made("p", "name");
      name.append(linked(index), " ", made("code", "", bill.controls[index].name));
      const item = made("li");
      item.append(cost, name);
      return item;
    }),
  );
}

function showAdvice(dearest, of) {
  element("to-do").hidden = bill.advised;
  if (bill.advised) return; // the answer has said what to keep: for the budget, as measured
  const free = bill.controls.filter((control) => control.free).length;
  const kept = free ? `Keep the ${free} free ${free === 1 ? "control" : "controls"}. ` : "";
  if (dearest.length === 0) {
    element("to-do").textContent = `${kept}No control costs anything here by itself.`;
    return;
  }
  const on = dearest.reduce((left, index) => switched(bill, left, index, false), whole);
  const rest = mixed(totals(bill, on), of.weights);
  const saved = range(of.cost - rest.high, of.cost - rest.low, (value) => number(value, of.digits));
  const what = tellsNothing(rest, of.cost)
    ? ` saves an amount that is ${MEASURE}.`
    : ` saves ${saved} of ${number(of.cost, of.digits)} ${of.unit} (${rest.basis === "measured" ? "measured" : "predicted"}).`;
  const names = listed(dearest.map((index) => `#${index + 1}`));
  const link = made("a", "", `Leaving out ${names}`);
  link.href = `#${encoded(bill, on, state.weights)}`;
  element("to-do").replaceChildren(kept, link, what);
}

/** Say whether a prediction is wider than the cost that it is about. */
const tellsNothing = ({ low, high }, cost) => high - low > Math.abs(cost);

// The choice

function showChoice() {
  const of = mix();
  const bands = totals(bill, state.on);
  const band = mixed(bands, of.weights);
  const kept = state.on.filter(Boolean).length;
  const saved = range(of.cost - band.high, of.cost - band.low, (value) => percent(value / of.cost));
  const noise = tellsNothing(band, of.cost);
  const rest = of.cost && kept < bill.controls.length && !noise ? `; that saves ${saved.replaceAll("+", "")} of the cost` : "";
  const verb = kept === 1 ? "adds" : "add";
  const what = noise ? `${verb} to ${of.name} an amount that is ${MEASURE}` : added(band, of, kept !== 1);
  element("verdict").textContent = `${kept} of ${controls(bill.controls.length)} ${what}${rest}.`;
  element("basis").textContent = basis(kept ? band.basis : "none");
  rows.metrics.forEach((row, m) => showMetric(row, bill.metrics[m], bands[m]));
  rows.controls.forEach((row, index) => {
    row.box.checked = state.on[index];
    row.line.classList.toggle("off", !state.on[index]);
  });
  element("download").disabled = kept === 0;
  element("share").href = `#${encoded(bill, state.on, state.weights)}`;
}

/** @type {(kind: keyof BASIS) => string} */
function basis(kind) {
  const unshown = bill.controls.filter((control, index) => state.on[index] && control.caveat).length;
  const more = unshown ? ` The numbers do not show all that ${controls(unshown)} may cost (†).` : "";
  return BASIS[kind] + more;
}

function showMetric(row, metric, { low, high, basis: how }) {
  const near = Math.max(Math.abs(low), Math.abs(high)) <= metric.chance;
  const noise = tellsNothing({ low, high }, metric.cost);
  const cost = noise ? MEASURE : range(low, high, (value) => signed(value, metric.digits));
  row.cost.textContent = cost + (near && metric.chance && !noise ? CHANCE : "");
  row.cost.title = how === "measured" ? how : "predicted";
  row.ratio.textContent = noise ? "" : range(low, high, (value) => percent(value / metric.baseline));
  const [first, last] = [low, high].map((value) => Math.min(1, Math.max(0, value / metric.cost || 0)));
  row.sure.style.width = `${100 * Math.min(first, last)}%`;
  row.open.style.width = `${100 * Math.abs(last - first)}%`;
}

function choose(on) {
  state.on = on;
  showChoice();
  remember();
}

function weigh(weights) {
  state.weights = weights?.some(Boolean) ? weights : null;
  showMix();
  showAnswer();
  showCosts();
  showChoice();
  remember();
}

/** Keep the choice in the page's address. */
function remember() {
  history.replaceState(null, "", `#${encoded(bill, state.on, state.weights)}`);
}

/** Take the choice from the page's address, if it holds one. */
function recall() {
  const said = element("address");
  said.textContent = "";
  try {
    const found = decoded(bill, location.hash.slice(1));
    if (!found) return;
    Object.assign(state, found);
  } catch (error) {
    said.textContent = `The address does not say what to choose here: ${error.message}.`;
    return;
  }
  showMix();
  showAnswer();
  showCosts();
  showChoice();
  element("what-if").scrollIntoView();
  element("what-if").focus({ preventScroll: true });
}

function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([profileFile(bill, state.on)], { type: "application/toml" }));
  link.download = bill.file;
  link.click();
  URL.revokeObjectURL(link.href);
}

// The tables

function showCosts() {
  const of = mix();
  rows.controls.forEach((row, index) => {
    const control = bill.controls[index];
    row.sizes = { cost: weighted(control.cost, of.weights), alone: weighted(control.alone, of.weights) };
    row.cost.textContent = signed(row.sizes.cost, of.digits) + (control.caveat ? "†" : "");
    row.alone.textContent = control.verified ? "-" : signed(row.sizes.alone, of.digits);
  });
  sortRows();
}

function sortRows() {
  const sign = state.down ? -1 : 1;
  const key = state.sort;
  const ranks = { high: 3, medium: 2, low: 1 };
  const compared = {
    number: (a, b) => a.index - b.index,
    name: (a, b) => collator.compare(bill.controls[a.index].name, bill.controls[b.index].name),
    severity: (a, b) =>
      (ranks[bill.controls[a.index].severity] ?? 0) - (ranks[bill.controls[b.index].severity] ?? 0),
    cost: (a, b) => a.sizes.cost - b.sizes.cost,
    alone: (a, b) => a.sizes.alone - b.sizes.alone,
  }[key];
  const sorted = rows.controls.toSorted((a, b) => sign * compared(a, b) || a.index - b.index);
  element("choices").replaceChildren(...sorted.map((row) => row.line));
  for (const button of document.querySelectorAll("[data-sort]")) {
    const order = state.down ? "descending" : "ascending";
    button.closest("th").ariaSort = button.dataset.sort === key ? order : "none";
  }
}

function filterRows() {
  const wanted = element("search").value.toLowerCase();
  const severity = element("severity").value;
  const file = element("file").value;
  let shown = 0;
  rows.controls.forEach((row, index) => {
    const control = bill.controls[index];
    const fits =
      row.text.includes(wanted) &&
      (!severity || control.severity === severity) &&
      (!file || control.file === file);
    row.line.hidden = !fits;
    shown += Number(fits);
  });
  const all = bill.controls.length;
  const filtered = shown < all;
  element("shown").textContent = filtered ? `${shown} of ${controls(all)} shown.` : "";
  element("tick").textContent = filtered ? "Tick these" : "Tick all";
  element("untick").textContent = filtered ? "Untick these" : "Untick all";
}

function showMix() {
  const weights = state.weights ?? usual;
  const single = weights.reduce((many, weight) => many + Number(weight > 0), 0) === 1;
  const only = single ? weights.findIndex((weight) => weight > 0) : -1;
  const own = state.weights !== null && only < 0;
  element("mix-own").hidden = !own;
  element("mix-choice").value = own ? "own" : only < 0 ? "" : String(only);
  rows.metrics.forEach((row, m) => {
    if (row.weight && Number(row.weight.value) !== weights[m]) row.weight.value = String(weights[m]);
  });
}

// Making the elements

function made(tag, className = "", text = "") {
  const one = document.createElement(tag);
  if (className) one.className = className;
  if (text) one.textContent = text;
  return one;
}

/** Return a link to a control's row in the bill. */
function linked(index) {
  const link = made("a", "", `#${index + 1}`);
  link.href = `#control-${index + 1}`;
  return link;
}

function controlRow(control, index, hasSeverity) {
  const line = made("tr");
  const box = made("input");
  box.type = "checkbox";
  box.id = `keep-${index + 1}`;
  const label = made("label");
  label.htmlFor = box.id;
  label.append(made("code", "", control.name));
  const words = made("th", "text words");
  words.scope = "row";
  words.append(label);
  if (control.place) words.append(" ", made("span", "place", control.place));
  if (control.caveat) words.append(" ", made("span", "more", `† ${control.caveat}`));
  const cells = ["keep", "number minor", "", "number", "number minor"].map((name) => made("td", name));
  cells[0].append(box);
  cells[1].textContent = String(index + 1);
  cells[2].textContent = control.severity;
  line.append(cells[0], cells[1], words, ...cells.slice(hasSeverity ? 2 : 3));
  const text = `${control.name} ${control.place} ${control.requirements}`.toLowerCase();
  return { index, line, box, text, cost: cells[3], alone: cells[4], sizes: {} };
}

function metricRow(metric, m) {
  const line = made("tr");
  const name = made("th", "text first", metric.name);
  name.scope = "row";
  const [weight, without, cost, ratio] = ["number", "number minor", "number", "number"].map((it) => made("td", it));
  without.textContent = number(metric.baseline, metric.digits);
  let input = null;
  if (bill.mix[m]) {
    input = made("input");
    Object.assign(input, { type: "number", min: "0", step: "any", ariaLabel: `Weight of ${metric.name}` });
    weight.append(input);
  } else {
    weight.textContent = metric.unit;
  }
  const [amount, bar, sure, open] = ["", "part", "bar", "bar open"].map((it) => made("span", it));
  bar.append(sure, open);
  cost.append(amount, bar);
  line.append(name, weight, without, cost, ratio);
  return { line, weight: input, cost: amount, ratio, sure, open };
}

function makeFilter(id, values, all) {
  const found = [...new Set(values)].filter(Boolean).toSorted(collator.compare);
  const options = [new Option(all, ""), ...found.map((value) => new Option(value, value))];
  element(id).replaceChildren(...options);
  return found.length > 1;
}

function make() {
  const severities = makeFilter("severity", bill.controls.map((one) => one.severity), "any");
  const files = makeFilter("file", bill.controls.map((one) => one.file), "any");
  element("severity").parentElement.hidden = !severities;
  element("file").parentElement.hidden = !files;
  document.querySelector("th:has([data-sort=severity])").hidden = !severities;
  rows.controls = bill.controls.map((control, index) => controlRow(control, index, severities));
  rows.metrics = bill.metrics.map(metricRow);
  element("metrics").replaceChildren(...rows.metrics.map((row) => row.line));
  const own = new Option("your mix", "own");
  own.id = "mix-own";
  element("mix-choice").replaceChildren(
    ...(usual.filter(Boolean).length > 1 ? [new Option(bill.average, "")] : []),
    ...bill.metrics.map((metric, m) => new Option(metric.name, String(m))),
    own,
  );
}

function wire() {
  element("mix-choice").addEventListener("change", ({ target }) => {
    if (target.value !== "own") weigh(target.value === "" ? null : usual.map((_, m) => Number(m === Number(target.value))));
  });
  element("metrics").addEventListener("change", () => {
    weigh(rows.metrics.map(({ weight }) => (weight ? limited(weight.valueAsNumber) : 0)));
  });
  element("choices").addEventListener("change", ({ target }) => {
    const index = rows.controls.findIndex((row) => row.box === target);
    choose(switched(bill, state.on, index, target.checked));
  });
  for (const id of ["search", "severity", "file"]) element(id).addEventListener("input", filterRows);
  element("tick").addEventListener("click", () => switchShown(true));
  element("untick").addEventListener("click", () => switchShown(false));
  element("free-only").addEventListener("click", () => {
    const dear = bill.controls.flatMap((control, index) => (control.free ? [] : [index]));
    choose(dear.reduce((on, index) => switched(bill, on, index, false), whole));
  });
  element("download").addEventListener("click", download);
  for (const button of document.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => sortBy(button.dataset.sort));
  }
  addEventListener("hashchange", recall);
}

/** @type {(weight: number) => number} */
const limited = (weight) => (weight > 0 ? Number(Math.min(weight, 1e9).toFixed(6)) : 0);

function switchShown(wanted) {
  const shown = rows.controls.filter((row) => !row.line.hidden);
  choose(shown.reduce((on, row) => switched(bill, on, row.index, wanted), state.on));
}

function sortBy(key) {
  const numeric = key !== "name" && key !== "number";
  state.down = state.sort === key ? !state.down : numeric;
  state.sort = key;
  sortRows();
}

make();
wire();
showMix();
showAnswer();
showCosts();
showChoice();
filterRows();
for (const one of document.querySelectorAll("[data-script]")) one.hidden = false;
recall();
