// Scores rows by a model that Yarrow exported as JSON: no dependencies, for Node and browsers.
// Copy this file beside your program; scorer.py is the same in Python, and docs/export.md says what
// the fields of an export mean.
//
//   import { Scorer } from "./scorer.mjs";
//   const model = new Scorer(JSON.parse(text)); // or: await (await fetch("model.json")).json()
//   model.predict({ size: 3.5, colour: "red" });
//   model.probabilities({ size: 3.5, colour: "red" }); // a Map from class to probability
//   model.interval({ size: 3.5, colour: "red" }, 0.9); // of YarrowRegressor
//
// A row is an object or a Map of features, or an array where columns have no names. A text is a
// category. The names 5 and "5" differ: the keys of an object are texts, and mean a number where
// the model knows no such text.

export class Scorer {
  constructor(model) {
    if (model?.seen === undefined)
      throw new Error("no export as JSON: write one by model.export('model.json')");
    this.model = model;
    this.known = new Map(); // what is known of each feature, by its name in JSON
    (model.features ?? []).forEach(([name, ...column], place) => {
      this.known.set(JSON.stringify(name), [place, ...column]);
    });
    (model.known ?? []).forEach((name, place) => {
      this.known.set(JSON.stringify(name), [place + 1, new Map(), new Map()]);
    });
    [model.weights ?? [], model.variances ?? []].forEach((entries, which) => {
      for (const [name, score, number] of entries) {
        const key = JSON.stringify(name);
        if (!this.known.has(key)) this.known.set(key, [0, new Map(), new Map()]);
        this.known.get(key)[1 + which].set(score, number);
      }
    });
  }

  /** The class of a row, or its value in a regression. */
  predict(row) {
    const scores = this.scores(row);
    return this.model.classes ? this.model.classes[this.#order(scores)[0]] : scores[0];
  }

  /** A score a class, in the order of `classes`; of two classes the first has 0. */
  scores(row) {
    const found = this.#features(row);
    if (this.model.experts) return this.#byClass(this.#mixed(found));
    const scores = [...this.model.intercept];
    for (const [[, weights], x] of found)
      for (const [score, weight] of weights) scores[score] += x * weight;
    return this.#byClass(scores);
  }

  /** The probability of each class, as a Map. */
  probabilities(row) {
    const { probabilities: told, classes } = this.model;
    if (!told) throw new Error("this export has no probabilities");
    const scores = this.scores(row), most = Math.max(...scores);
    let likely = [1];
    if (classes.length > 1 && told.kind === "softmax")
      likely = scores.map((score) => Math.exp(score - most));
    else if (classes.length > 1 && told.kind === "logistic")
      likely = scores.map((score) => 0.5 * (1 + Math.tanh(score / 2)));
    else if (classes.length > 1 && told.kind === "posterior") {
      const said = erf(scores[1] / Math.sqrt(2 * (told.noise ** 2 + this.#variances(row)[1])));
      likely = [1 - said, 1 + said];
    } else if (classes.length > 1) likely = this.#byMargin(told, scores, this.#variances(row));
    const all = sum(likely);
    // all is 0 where no class is likelier than rounding can tell
    return new Map(classes.map((label, i) => [label, all ? likely[i] / all : 1 / likely.length]));
  }

  /** Two values between which the target is as often as asked. */
  interval(row, coverage = 0.9) {
    if (!this.model.intervals) throw new Error("this export has no intervals");
    const { coverage: levels, radius } = this.model.intervals;
    if (!(coverage >= levels[0] && coverage <= levels.at(-1)))
      throw new Error(`coverage must be between ${levels[0]} and ${levels.at(-1)}`);
    const at = levels.slice(0, -1).findLastIndex((level) => level <= coverage);
    const part = (coverage - levels[at]) / (levels[at + 1] - levels[at]);
    const half = radius[at] + part * (radius[at + 1] - radius[at]), [value] = this.scores(row);
    return [value - half, value + half];
  }

  /** What is known of a row's features, and their values; null and NaN are missing.
   *  0 is as good as absent, and a column of a table that is absent has the value 0. */
  #features(row) {
    const found = new Map(), missing = new Set(), { zeros = [], features } = this.model;
    const isObject = !(row instanceof Map || Array.isArray(row));
    for (let [name, value] of isObject ? Object.entries(row) : row.entries()) {
      if (typeof value === "string") [name, value] = [`${name}=${value}`, 1];
      const key = JSON.stringify(name);
      const isNumber = isObject && /^-?\d+$/.test(name);
      const known = this.known.get(key) ?? (isNumber ? this.known.get(name) : undefined);
      if (value === null || value === undefined || Number.isNaN(value)) {
        missing.add(known);
        continue;
      }
      if (!Number.isFinite(+value)) throw new Error(`the value of ${name} is ${value}`);
      if (known) found.set(known, (found.get(known) ?? 0) + +value);
    }
    const absent = zeros.map((place) => this.known.get(JSON.stringify(features[place][0])))
      .filter((known) => !missing.has(known) && !found.get(known));
    return [...[...found].filter(([, x]) => x !== 0), ...absent.map((known) => [known, 0])];
  }

  /** Two classes share a score, which speaks for the second. */
  #byClass(numbers) {
    return this.model.classes?.length === 2 ? [0, ...numbers] : numbers;
  }

  /** The classes' places, the best one first; of equal ones the one seen first. */
  #order(scores) {
    const places = this.model.seen.map((label) => this.model.classes.indexOf(label));
    return places.sort((one, other) => scores[other] - scores[one]);
  }

  /** The variance of each score. */
  #variances(row) {
    const { covariance, intercept_variance, probabilities, weights } = this.model;
    const found = weights ? this.#features(row) : []; // of experts it is constant
    if (covariance) {
      const cells = [[0, 1], ...found.map(([[place], x]) => [place, x])];
      return this.#byClass(covariance.map((matrix) => Math.max(
        sum(cells.flatMap(([i, x]) => cells.map(([j, y]) => x * y * matrix[i][j]))),
        1e-15 * sum(cells.map(([i, x]) => x * x * matrix[i][i])), // what rounding can tell
      )));
    }
    const others = probabilities.initial_variance;
    return this.#byClass(intercept_variance.map((variance, score) =>
      variance + sum(found.map(([[, , of], x]) => x * x * (of.get(score) ?? others)))));
  }

  /** The best class by its margin over the second; the others share what is left. */
  #byMargin({ scale, lapse, equal_share }, scores, variances) {
    const n = scores.length, [best, second] = this.#order(scores), equal = 1 / (n - 1);
    const unit = Math.sqrt(variances[best] + variances[second]);
    const margin = unit > 0 ? (scale * (scores[best] - scores[second])) / unit : 0;
    const top = 1 / n + (1 - lapse - 1 / n) * erf(margin / Math.SQRT2);
    const shares = scores.map((score, place) =>
      place === best ? 0 : Math.exp((scale * (score - scores[second])) / (unit || 1)));
    const room = top < 1 ? Math.max(0, top / (1 - top) - equal) : Infinity, all = sum(shares);
    const excess = Math.max(...shares) / all - equal;
    const mix = (1 - equal_share) * (excess > room ? room / excess : 1);
    return shares.map((share, place) => place === best
      ? Math.max(top, (1 + 1e-9) / n)
      : (1 - top) * ((mix * share) / all + (1 - mix) * equal));
  }

  /** What the experts say of each class, weighed. */
  #mixed(found) {
    const { experts, limit, paired } = this.model;
    const row = found.map(([[place, shift, unit, bends], x]) => // in the scale of columns
      [place, unit ? cut((x - shift) / unit, limit) : 0, bends]);
    const bent = row.filter(([, , bends]) => bends).map(([place, z]) => {
      const at = (cut(z, 2) + 2) * 1.5, below = Math.min(5, Math.floor(at)); // of seven knots
      return [place, below, at - below];
    }).sort(([one], [other]) => one - other);
    const pairs = paired ? (bent.length * (bent.length - 1)) / 2 : 0;
    const length = (over) => 1 / Math.sqrt(
      Math.max(1, over === "values" ? row.length : bent.length + pairs));
    const heard = experts.filter((expert) => !expert.needs_knots || bent.length > 0);
    return experts[0].constant.map((_, score) => sum(heard.map((expert) => {
      const said = expert.terms.map(({ over, numbers, divided, of }) => {
        if (!SUMS[over]) throw new Error(`terms over ${over} need a newer scorer`);
        return (divided ? length(over) : 1) * SUMS[over](numbers, score, row, bent, of);
      });
      return expert.weight * cut(expert.constant[score] + sum(said), expert.cut ?? Infinity);
    })));
  }
}

const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
const cut = (number, most) => Math.max(-most, Math.min(most, number));

const SUMS = {
  values: (numbers, score, row) => sum(row.map(([place, z]) => z * numbers[place][score])),
  presence: (numbers, score, row) => sum(row.map(([place]) => numbers[place][score])),
  knots: (numbers, score, _, bent) => sum(bent.map(([place, knot, above]) =>
    (1 - above) * numbers[place][score][knot] + above * numbers[place][score][knot + 1])),
  pairs: (numbers, score, _, bent) => sum(bent.flatMap(([two, k2, above2], later) =>
    bent.slice(0, later).map(([one, k1, above1]) => {
      const cells = numbers[(two * (two - 1)) / 2 + one][score], at = 7 * k1 + k2;
      return (1 - above1) * ((1 - above2) * cells[at] + above2 * cells[at + 1])
        + above1 * ((1 - above2) * cells[at + 7] + above2 * cells[at + 8]);
    }))),
  products: (numbers, score, row, _, of) => { // 1, each value, each two of them
    if (row.length > 48) return 0; // longer rows have none
    const cells = [[0, 1], ...row.map(([place, z]) => [of[place], z]).filter(([n]) => n)];
    const all = cells.flatMap(([a, x], later) =>
      cells.slice(0, later).map(([b, y]) => x * y * numbers[productPlace(a, b)][score]));
    return (numbers[0][score] + sum(all)) / Math.sqrt(all.length + 1);
  },
};

/** Where the product of two features stands: those of the first 255 apart, others by a hash. */
function productPlace(one, other) {
  const a = Math.max(one, other), b = Math.min(one, other);
  if (a <= 255) return (a * (a - 1)) / 2 + 1 + b;
  const first = BigInt.asUintN(64, ((BigInt(a) << 32n) | BigInt(b)) * 0x9E3779B97F4A7C15n);
  return Number(BigInt.asUintN(64, (first ^ (first >> 29n)) * 0xBF58476D1CE4E5B9n) >> 49n);
}

/** The error function, by a series of positive terms. */
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = 1, all = 1;
  for (let n = 1; term > 1e-17 * all; n++) all += term *= (2 * x * x) / (2 * n + 1);
  return ((2 * x) / Math.sqrt(Math.PI)) * Math.exp(-x * x) * all;
}
