/**
 * Names and types of what a platform answered, in place of its values:
 * "string", "number", "boolean"; "null", which says nothing of the type; "*"
 * for anything; "empty" for nothing at all; "=word" for that very text.
 *
 * A list holds the shape of its items (several where they are of several types),
 * and {} where some of them were hidden. In an object, "name?" may be missing, "…" allows more names, and
 * "{id}" stands for every name of a map by ids.
 */
export type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

const CUT = "…";
const BY_ID = "{id}";
const UUID = /^[0-9a-f]{8}-/;

/**
 * Where a value differs from a shape: paths with what was expected. Null fits
 * every type and every type fits null: two worlds hold different objects. What
 * the platform hides of a row need be hidden in the first row only.
 */
export function differences(value: unknown, shape: Shape, at = "$", hiding = true): string[] {
  if (shape === "*" || shape === "null") return [];
  if (shape === "empty") return value === undefined || value === null ? [] : [`${at}: is there`];
  if (typeof shape === "string" && shape.startsWith("=")) {
    return value === shape.slice(1) ? [] : [`${at}: expected ${shape.slice(1)}, found ${String(value)}`];
  }
  if (value === undefined) return [`${at}: is missing`];
  if (value === null) return [];
  if (typeof shape === "string") {
    return typeof value === shape ? [] : [`${at}: expected ${shape}, found ${typeof value}`];
  }
  if (isList(shape)) return listDifferences(value, shape, at, hiding);
  if (typeof value !== "object" || Array.isArray(value)) return [`${at}: expected an object`];
  return objectDifferences(value as Record<string, unknown>, shape, at, hiding);
}

function listDifferences(value: unknown, shapes: readonly Shape[], at: string, hiding: boolean): string[] {
  if (!Array.isArray(value)) return [`${at}: expected a list`];
  const hides = shapes.some(isHidden);
  if (hides && hiding && value.length > 0 && !value.some(isHidden)) return [`${at}: nothing is hidden`];
  const kinds = shapes.filter((shape) => !isHidden(shape));
  if (kinds.length === 0) return [];
  return value.flatMap((one, i) => {
    if (hides && isHidden(one)) return [];
    const found = kinds.map((kind) => differences(one, kind, `${at}[]`, hiding && i === 0));
    return found.some((none) => none.length === 0) ? [] : (found[0] as string[]);
  });
}

function objectDifferences(
  value: Readonly<Record<string, unknown>>,
  shape: { readonly [name: string]: Shape },
  at: string,
  hiding: boolean,
): string[] {
  const each = shape[BY_ID];
  if (each !== undefined) return Object.values(value).flatMap((one) => differences(one, each, `${at}${BY_ID}`, hiding));
  const known = new Set<string>();
  const found = Object.entries(shape).flatMap(([key, one]) => {
    const name = key.replace(/\?$/, "");
    known.add(name);
    if (name === CUT || (key.endsWith("?") && !(name in value))) return [];
    return differences(value[name], one, `${at}.${name}`, hiding);
  });
  const more = CUT in shape ? [] : Object.keys(value).filter((name) => !known.has(name));
  return [...found, ...more.map((name) => `${at}.${name}: is not there on the platform`)];
}

/** The shape of a recorded answer, in which "…" stands for what was cut. */
export function shapeOf(answer: unknown): Shape {
  if (answer === undefined) return "empty";
  if (answer === CUT) return "*";
  if (answer === null) return "null";
  if (Array.isArray(answer)) {
    const shown = answer.filter((one) => !isHidden(one));
    const kinds = new Map(shown.toReversed().map((one) => [typeof one, one]));
    return [...[...kinds.values()].map(shapeOf), ...(answer.some(isHidden) ? [{}] : [])];
  }
  if (typeof answer !== "object") return typeof answer;
  const entries = Object.entries(answer);
  const [first] = entries;
  if (first !== undefined && entries.every(([name]) => name === CUT || UUID.test(name))) {
    return { [BY_ID]: shapeOf(first[1]) };
  }
  return Object.fromEntries(entries.map(([name, one]) => [name, name === CUT ? "*" : shapeOf(one)]));
}

/**
 * The shape of an answer that keeps what is told of any row: rows of a list and values of a map make one shape
 * together, in which "name?" is what some of them lack.
 */
export function jointShapeOf(answer: unknown): Shape {
  if (answer === undefined || answer === null || typeof answer !== "object") return shapeOf(answer);
  if (Array.isArray(answer)) {
    const shown = answer.filter((one) => !isHidden(one)).map(jointShapeOf);
    const hidden = answer.some(isHidden) ? [{}] : [];
    return [...shown.reduce<Shape[]>(addTo, []), ...hidden];
  }
  const entries = Object.entries(answer);
  if (entries.length > 0 && entries.every(([name]) => UUID.test(name))) {
    return { [BY_ID]: entries.map(([, one]) => jointShapeOf(one)).reduce(joined) };
  }
  return Object.fromEntries(entries.map(([name, one]) => [name, jointShapeOf(one)]));
}

/** Adds the shape of one more item to those of a list, one of each type. */
function addTo(shapes: Shape[], shape: Shape): Shape[] {
  const same = shapes.findIndex((one) => typeOf(one) === typeOf(shape));
  return same < 0 ? [...shapes, shape] : shapes.with(same, joined(shapes[same]!, shape));
}

const typeOf = (shape: Shape) => (isList(shape) ? "list" : typeof shape === "object" ? "object" : shape);

/** What fits both of two shapes. */
function joined(a: Shape, b: Shape): Shape {
  if (a === "null" || b === "null") return a === "null" ? b : a;
  if (typeOf(a) !== typeOf(b)) return "*";
  if (isList(a) && isList(b)) {
    // Hidden items are asked for where every row has some; elsewhere they may be.
    const both = a.some(isHidden) && b.some(isHidden) ? [{}] : [];
    const items = [...a, ...b].filter((one) => both.length === 0 || !isHidden(one)).reduce<Shape[]>(addTo, []);
    return [...items.map((one) => (isHidden(one) ? { [CUT]: "*" } : one)), ...both];
  }
  if (typeof a === "string" || typeof b === "string") return a;
  return joinedObject(a as Named, b as Named);
}

type Named = { readonly [name: string]: Shape };

function joinedObject(a: Named, b: Named): Shape {
  // A map that holds nothing says nothing of what it would hold.
  if (BY_ID in a || BY_ID in b) {
    return {
      [BY_ID]: a[BY_ID] === undefined ? b[BY_ID]! : b[BY_ID] === undefined ? a[BY_ID] : joined(a[BY_ID], b[BY_ID]),
    };
  }
  const names = new Set([...Object.keys(a), ...Object.keys(b)].map((name) => name.replace(/\?$/, "")));
  return Object.fromEntries(
    [...names].map((name) => {
      const [left, right] = [a[name] ?? a[`${name}?`], b[name] ?? b[`${name}?`]];
      const both = left !== undefined && right !== undefined ? joined(left, right) : (left ?? right)!;
      return [name in a && name in b ? name : `${name}?`, both];
    }),
  );
}

/** An item that the platform shows to be there, and nothing of it. */
function isHidden(item: unknown): boolean {
  return typeof item === "object" && item !== null && !Array.isArray(item) && Object.keys(item).length === 0;
}

const isList = (shape: Shape): shape is readonly Shape[] => Array.isArray(shape);
