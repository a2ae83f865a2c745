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
