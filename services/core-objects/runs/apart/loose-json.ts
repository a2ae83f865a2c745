/** The fields of an object whose shape nobody promised. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of what may be an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The items of a value that may be a list: a single value is one item, and no value gives an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** The text in what may be one, or an object that holds one. */
export function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  const { value: inner, text, content } = fieldsOf(value);
  const first = [inner, text, content].find((one) => typeof one === "string");
  return typeof first === "string" ? first : JSON.stringify(value);
}

/** The word in what may be a text or a number; "" for anything else: not everything in JSON can be made a text. */
export function wordIn(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
