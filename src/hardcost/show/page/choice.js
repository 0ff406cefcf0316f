// What a choice of a bill's controls costs: pure functions of the bill's data and the choice.
//
// A choice is an array of booleans, one for each control. Its cost is known exactly where the bill
// measured just these controls: none of them, all of them, all but one, one alone. Any other choice
// is predicted. If all that was measured of a metric fits own costs that add up and one cost that all
// share, so does the prediction. Otherwise it is a band that rests on one assumption: in any company,
// a control costs between what it costs alone and what leaving it out of the whole profile saves.

/**
 * @typedef {object} Control
 * @property {string} name
 * @property {string} place location and names in benchmarks, or ""
 * @property {string} requirements names in benchmarks that are not shown, or ""
 * @property {string} file the file that it comes from, or ""
 * @property {string} severity "high", "medium", "low" …, or ""
 * @property {string} caveat what the numbers do not show of its cost, or ""
 * @property {number[]} needs indices of the controls that it requires
 * @property {number[]} cost by metric: what leaving it out of the profile saves
 * @property {number[]} alone by metric: what it costs by itself
 * @property {boolean} verified its cost was predicted and confirmed in groups: it was never measured
 *   by itself, and `alone` is predicted
 * @property {boolean} free its cost is not distinguishable from 0 on any metric
 * @property {boolean[]} sure by metric: whether its cost is distinguishable from 0
 *
 * @typedef {object} Metric
 * @property {string} name
 * @property {string} unit
 * @property {number} digits decimals to show
 * @property {number} baseline its value without the profile
 * @property {number} cost what the whole profile adds
 * @property {number} chance a difference of two configurations up to this may be chance
 * @property {number | null} shared the one cost that all controls share, if the bill fits that
 *
 * @typedef {object} Bill
 * @property {string} id distinguishes this bill from others, in addresses
 * @property {boolean} advised whether the answer above says what to leave out for a budget
 * @property {Control[]} controls
 * @property {Metric[]} metrics
 * @property {boolean[]} mix by metric: whether it is a call, which a mix of calls can hold
 * @property {number[]} weights by metric: how often it counts in what the bill is ordered by
 * @property {string} average what these weights make, in words
 * @property {{off: number[], cost: number[]}[]} measured further choices that were measured
 * @property {[string | (string | number)[], number[]][]} pieces the profile's file: texts, and the
 *   controls each is for; a number in a text is the name of that control
 *
 * @typedef {object} Packed a control as the page holds it, without what is empty, 0 or false
 * @property {number} cost the number of its row of costs
 * @property {number} more the number of its row of what it costs more alone
 * @property {number} sure the number of a text of a digit by metric, 0 or 1
 * @property {number} [file] the number of that text, as with `severity` and `caveat`
 * @property {number} [severity]
 * @property {number} [caveat]
 *
 * @typedef {{low: number, high: number, basis: "measured" | "fitted" | "bounded"}} Band
 */

/**
 * Return the bill that the page holds; what several controls share, it holds once.
 * @param {{texts: string[], rows: number[][], controls: Packed[]} & Record<string, any>} held
 * @returns {Bill & Record<string, any>}
 */
export function unpacked({ texts, rows, ...held }) {
  const empty = { place: "", requirements: "", needs: [], verified: false, free: false };
  const controls = held.controls.map(({ file, severity, caveat, sure, cost, more, ...own }) => ({
    ...empty,
    ...own,
    file: texts[file] ?? "",
    severity: texts[severity] ?? "",
    caveat: texts[caveat] ?? "",
    sure: [...texts[sure]].map((digit) => digit === "1"),
    cost: rows[cost],
    alone: rows[cost].map((amount, m) => amount + rows[more][m]),
  }));
  return /** @type {any} */ ({ ...held, controls });
}

/**
 * Return the choice with a control switched, and with it what it requires or what requires it.
 * @param {Bill} bill
 * @param {boolean[]} on
 * @param {number} index
 * @param {boolean} wanted
 * @returns {boolean[]}
 */
export function switched(bill, on, index, wanted) {
  const after = on.slice();
  after[index] = wanted;
  bill.controls.forEach((control, other) => {
    if (wanted && bill.controls[index].needs.includes(other)) after[other] = true;
    if (!wanted && control.needs.includes(index)) after[other] = false;
  });
  return after;
}

/**
 * Return the cost of a choice by metric if it was measured, otherwise null.
 * @param {Bill} bill
 * @param {boolean[]} on
 * @returns {number[] | null}
 */
function measuredCost(bill, on) {
  const kept = on.flatMap((is, index) => (is ? [index] : []));
  const off = on.flatMap((is, index) => (is ? [] : [index]));
  if (kept.length === 0) return bill.metrics.map(() => 0);
  if (off.length === 0) return bill.metrics.map((metric) => metric.cost);
  const requires = (/** @type {number} */ one, /** @type {number} */ other) =>
    one === other || bill.controls[one].needs.includes(other);
  const left = off.find((index) => off.every((other) => requires(other, index)));
  if (left !== undefined && !bill.controls[left].verified) {
    return bill.metrics.map((metric, m) => metric.cost - bill.controls[left].cost[m]);
  }
  const single = kept.find((index) => kept.every((other) => requires(index, other)));
  if (single !== undefined && !bill.controls[single].verified) return bill.controls[single].alone;
  const more = bill.measured.find((one) => sameNumbers(one.off, off));
  return more ? more.cost : null;
}

/** @type {(one: number[], other: number[]) => boolean} */
const sameNumbers = (one, other) =>
  one.length === other.length && one.every((number) => other.includes(number));

/**
 * Return the cost of a choice by metric: a point where it was measured, otherwise a band.
 * @param {Bill} bill
 * @param {boolean[]} on
 * @returns {Band[]}
 */
export function totals(bill, on) {
  const known = measuredCost(bill, on);
  return bill.metrics.map((_, m) =>
    known ? { low: known[m], high: known[m], basis: "measured" } : predicted(bill, on, m),
  );
}

/**
 * Predict the cost of a choice on a metric, from below and from above.
 *
 * From below: the chosen controls' costs are added up. From above: the costs of the others are
 * taken off the whole profile's. Both hold, so the band is where they overlap. Both are widened by
 * chance.
 * @param {Bill} bill
 * @param {boolean[]} on
 * @param {number} m
 * @returns {Band}
 */
function predicted(bill, on, m) {
  const { cost, chance, shared } = bill.metrics[m];
  const kept = side(bill, m, (index) => on[index]);
  // Where what a control requires is left out, the saving of that one has this one's in it.
  const left = side(bill, m, (index) => !on[index] && bill.controls[index].needs.every((need) => on[need]));
  const first = spread(kept.count) * chance;
  const second = spread(left.count) * chance;
  if (shared !== null) {
    const sum = kept.alone - (kept.count - 1) * shared;
    const rest = cost - left.cost;
    return overlap([sum - first, sum + first], [rest - second, rest + second], "fitted");
  }
  // If no costs within the controls' own ranges add up to the whole, three or more controls
  // interact. What is missing may then arise in any company.
  const above = Math.max(0, cost - kept.high - left.high);
  const below = Math.min(0, cost - kept.low - left.low);
  return overlap(
    [kept.low + below - first, kept.high + above + first],
    [cost - left.high - above - second, cost - left.low - below + second],
    "bounded",
  );
}

/**
 * Return the sums of some controls' costs on a metric, of their least and of their largest costs.
 * @param {Bill} bill
 * @param {number} m
 * @param {(index: number) => boolean} counts
 */
function side(bill, m, counts) {
  const sums = { count: 0, cost: 0, alone: 0, low: 0, high: 0 };
  bill.controls.forEach((control, index) => {
    if (!counts(index)) return;
    sums.count += 1;
    sums.cost += control.cost[m];
    sums.alone += control.alone[m];
    sums.low += Math.min(control.cost[m], control.alone[m]);
    sums.high += Math.max(control.cost[m], control.alone[m]);
  });
  return sums;
}

/** @type {(one: number[], other: number[], basis: Band["basis"]) => Band} */
function overlap(one, other, basis) {
  const low = Math.max(one[0], other[0]);
  const high = Math.min(one[1], other[1]);
  return { low: Math.min(low, high), high: Math.max(low, high), basis };
}

/**
 * Return by how much chance can falsify a prediction from so many differences, in units of what it
 * makes of one difference. The state that all are compared with is in each of them, and its own
 * error adds up; those of the others are independent.
 * @param {number} count
 */
function spread(count) {
  return Math.sqrt(((count - 1) ** 2 + count + 1) / 2);
}

/**
 * Return the cost of a mix of metrics.
 * @param {Band[]} bands
 * @param {number[]} weights how often each metric's operation is carried out
 * @returns {Band}
 */
export function mixed(bands, weights) {
  return {
    low: weighted(bands.map((band) => band.low), weights),
    high: weighted(bands.map((band) => band.high), weights),
    basis: weakest(bands.filter((_, m) => weights[m])),
  };
}

/** @type {(bands: Band[]) => Band["basis"]} */
function weakest(bands) {
  const found = new Set(bands.map((band) => band.basis));
  if (found.has("bounded")) return "bounded";
  return found.has("fitted") ? "fitted" : "measured";
}

/**
 * Return the sum of values, each as often as its weight says; what has no weight is not looked at.
 * @type {(values: number[], weights: number[]) => number}
 */
export const weighted = (values, weights) =>
  values.reduce((sum, value, index) => sum + (weights[index] ? value * weights[index] : 0), 0);

/**
 * Return the choice and the weights as the fragment of an address; `decoded` reads it.
 * @param {Bill} bill
 * @param {boolean[]} on
 * @param {number[] | null} weights null for the bill's own
 */
export function encoded(bill, on, weights) {
  const off = on.flatMap((is, index) => (is ? [] : [index + 1]));
  const parts = [`bill=${bill.id}`, `off=${ranges(off)}`];
  if (weights) {
    const own = weights.flatMap((weight, index) => (weight ? [`${index + 1}x${weight}`] : []));
    parts.push(`mix=${own.join(",")}`);
  }
  return parts.join("&");
}

/**
 * Read a fragment. Null if it says nothing of a choice; an error if it is no choice of this bill.
 * @param {Bill} bill
 * @param {string} fragment
 * @returns {{on: boolean[], weights: number[] | null} | null}
 */
export function decoded(bill, fragment) {
  const words = new URLSearchParams(fragment);
  if (!words.has("bill")) return null;
  if (words.get("bill") !== bill.id) throw new Error("it is of another bill");
  const off = numbers(words.get("off") ?? "", bill.controls.length);
  const named = (/** @type {number} */ index) => off.has(index + 1);
  const on = bill.controls.map(({ needs }, index) => !named(index) && !needs.some(named));
  const mix = words.get("mix");
  return { on, weights: mix === null ? null : weightsOf(mix, bill.mix) };
}

/** @type {(sorted: number[]) => string} */
function ranges(sorted) {
  /** @type {number[][]} */
  const found = [];
  for (const number of sorted) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(",");
}

/** @type {(text: string, most: number) => Set<number>} */
function numbers(text, most) {
  const found = new Set();
  for (const part of text ? text.split(",") : []) {
    const match = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part);
    const [first, last] = match ? [Number(match[1]), Number(match[2] ?? match[1])] : [0, 0];
    if (first < 1 || last < first || last > most) throw new Error(`it has no control ${part}`);
    for (let number = first; number <= last; number += 1) found.add(number);
  }
  return found;
}

/** @type {(text: string, mix: boolean[]) => number[]} */
function weightsOf(text, mix) {
  const weights = mix.map(() => 0);
  for (const part of text.split(",")) {
    const match = /^(\d{1,6})x(\d{1,12}(?:\.\d{1,6})?)$/.exec(part);
    if (!match || Number(match[1]) < 1 || Number(match[1]) > mix.length) {
      throw new Error(`it has no metric ${part}`);
    }
    weights[Number(match[1]) - 1] = Number(match[2]);
  }
  const several = weights.filter(Boolean).length > 1;
  if (!weights.some(Boolean)) throw new Error("its mix is empty");
  if (several && weights.some((weight, m) => weight && !mix[m])) throw new Error("its mix has several units");
  return weights;
}

/**
 * Return the profile's file with just the chosen controls.
 * @param {Bill} bill
 * @param {boolean[]} on
 */
export function profileFile(bill, on) {
  return bill.pieces
    .filter(([, of]) => of.length === 0 || of.some((index) => on[index]))
    .flatMap(([text]) => text)
    .map((part) => (typeof part === "number" ? bill.controls[part].name : part))
    .join("");
}
