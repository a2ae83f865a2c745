// Every way in which a person, a program or a gateway may write that a URL
// narrows its list; generated, so that a new parameter or value is one word here.

const NAMES = ["readonly", "readOnly", "ReadOnly", "READONLY", "read_only", "read-only", "READ_ONLY", "read%20only"];
const ENCODED_NAMES = [
  "%72eadonly",
  "%52EADONLY",
  "readonly%00",
  "readonly%20",
  "+readonly",
  "readonly[]",
  "%EF%BB%BFreadonly",
];
const VALUES = ["1", "true", "yes", "on", "y", "t", "TRUE", "True", "Yes", "ON", "01", "1.0", "2", "-1", "enabled"];
const ENCODED_VALUES = [
  "%31",
  "%74rue",
  "1+",
  "+1",
  "%201",
  "1%20",
  "1%00",
  "%EF%BC%91",
  "%221%22",
  "1%0A",
  "%",
  "%zz",
  "%ff",
];
const OFF = ["0", "false", "no", "off", "null", "undefined", ""];

/** Queries that say "readonly" in some way, each once. */
export function readOnlySpellings(): string[] {
  const names = [...NAMES, ...ENCODED_NAMES];
  const values = [...VALUES, ...ENCODED_VALUES, ...OFF];
  const single = names.flatMap((name) => [name, ...values.map((value) => `${name}=${value}`)]);
  const repeated = names.flatMap((name) => [
    `readonly=1&${name}=0`,
    `${name}=0&readonly=1`,
    `readonly=1&${name}=1`,
    `toolsets=writing&${name}=yes`,
  ]);
  const separated = [
    "readonly=1;x",
    ";readonly=1",
    "readonly=0;readonly=1",
    "x;readonly=1",
    "readonly=1,1",
    "readonly==1",
  ];
  const padded = [
    "&readonly=1",
    "readonly=1&",
    "&&readonly=1&&",
    "?readonly=1",
    "%3Freadonly=1",
    "readonly%3D1",
    "a=b&readonly=1",
  ];
  return [...new Set([...single, ...repeated, ...separated, ...padded])];
}

/** Names that somebody may write for a parameter; the first is right. */
function namesLike(name: string): string[] {
  const capital = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const encoded = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
  return [name, encoded, capital, name.toUpperCase(), `${name}s`, `${name}_id`, `${name}[]`, `${name}%00`, `+${name}`];
}

/** Queries that give a parameter one of these values in some way, each once. @param other a good value that means something else. */
function spellingsOf(name: string, values: readonly string[], other: string): string[] {
  const [right] = values as [string];
  const single = namesLike(name).flatMap((one) => [one, `${one}=`, ...values.map((value) => `${one}=${value}`)]);
  const repeated = namesLike(name).flatMap((one) => [
    `${name}=${right}&${one}=${other}`,
    `${one}=${other}&${name}=${right}`,
  ]);
  const padded = [
    `&${name}=${right}&`,
    `?${name}=${right}`,
    `${name}%3D${right}`,
    `${name}==${right}`,
    `x;${name}=${right}`,
  ];
  return [...new Set([...single, ...repeated, ...padded])];
}

/** Queries that exclude a tool in some way. */
export function excludeSpellings(tool: string, other: string): string[] {
  const camel = tool.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const values = [tool, `${tool}+`, `%20${tool}`, `${tool},${tool}`, `${tool}%2C+${tool}`];
  const wrong = [
    `${tool},`,
    `,${tool}`,
    `${tool};${tool}`,
    `${tool}|${tool}`,
    `${tool}%00`,
    `"${tool}"`,
    `[${tool}]`,
    `-${tool}`,
  ];
  const words = ["*", "all", "none", "true", "1", "__proto__", "constructor", tool.toUpperCase(), camel, `${tool}_`];
  return spellingsOf("exclude", [...values, ...wrong, ...words], other);
}

/** Queries that name a tenant in some way. */
export function tenantSpellings(id: string, other: string): string[] {
  const bare = id.replaceAll("-", "");
  const values = [id, id.toUpperCase(), id.replace("-", "%2D")];
  const wrong = [
    bare,
    `{${id}}`,
    `%7B${id}%7D`,
    `urn:uuid:${id}`,
    `${id}+`,
    `%20${id}`,
    `${id},`,
    `${id},${other}`,
    `${id};${other}`,
  ];
  const words = [
    "*",
    "all",
    "null",
    "undefined",
    "0",
    "me",
    id.slice(0, -1),
    `${id}0`,
    `${id}%00`,
    `${id}%0A`,
    "__proto__",
  ];
  return spellingsOf("tenant", [...values, ...wrong, ...words], other);
}
