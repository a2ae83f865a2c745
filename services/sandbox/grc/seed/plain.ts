import { kindOf } from "../kinds/plain.js";
import { PLAIN_KINDS, type PlainKind } from "../kinds/table.js";
import { type Json, type Row, seededId } from "../world.js";
import type { Plot, Sower } from "./sower.js";

/** Names that mean something, by path; where there is none, the model's own name is counted. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  entities: ["Hosting", "Payroll services", "Logistics", "Card processing", "Office cleaning"],
  solutions: ["Data centre", "Payroll portal", "Warehouse system", "Payment gateway"],
  contracts: ["Hosting agreement", "Payroll agreement", "Payment services agreement"],
  "organisation-objectives": ["Payments never stop", "Customers trust us", "Audits pass at first try"],
  "organisation-issues": ["New regulation", "Ageing systems", "Scarce specialists"],
  vulnerabilities: ["outdated TLS library", "unpatched VPN gateway", "default password", "open bucket"],
  incidents: ["Phishing wave", "Lost laptop", "Ransom note"],
  "findings-assessments": ["Penetration test", "Internal audit"],
  findings: ["Weak cipher", "No log review", "Shared account", "Missing backup test"],
  campaigns: ["Yearly review"],
  "task-templates": ["Review access rights", "Test restore"],
};
const MISSIONS = ["Runs the data centre", "Pays wages", "Moves goods", "Processes cards", "Cleans offices"];

/** Seeds some objects of every kind of the table in a tenant. */
export function seedPlain(sower: Sower, plot: Plot): void {
  for (const plain of PLAIN_KINDS) {
    const names = NAMES[plain.path] ?? [plain.model, `Second ${plain.model}`];
    names.forEach((name, i) => {
      const fields = fieldsOf(sower, plot, plain, i);
      sower.add(plain.path, `${plot.key}:${i}`, plot.home(i), `${plot.short} ${name}`, fields);
    });
  }
}

function fieldsOf(sower: Sower, plot: Plot, plain: PlainKind, i: number): Record<string, Json> {
  const own = Object.entries(kindOf(plain).fields).filter(
    ([name]) => !["name", "description", "folder"].includes(name),
  );
  return Object.fromEntries(
    own.map(([name, field]): [string, Json] => {
      switch (field.kind) {
        case "choice":
          return [name, codeOf(Object.keys(field.choices), i)];
        case "one":
          return [name, relatedTo(sower, plot, field.path, i)[0] ?? null];
        case "many":
          return [name, name === "owned_folders" ? [] : relatedTo(sower, plot, field.path, i)];
        case "date":
          return [name, `2027-0${(i % 9) + 1}-15`];
        case "text":
          return [name, textOf(name, plot, plain, i) ?? field.initial ?? null];
        case "integer":
          return [name, field.initial ?? (i % 4) + 1];
        default:
          return [name, field.initial ?? null];
      }
    }),
  );
}

/** Codes by turns; those that are numbers are kept as numbers. */
function codeOf(codes: readonly string[], i: number): Json {
  const code = codes[(i + 1) % codes.length]!;
  return /^-?\d+$/.test(code) ? Number(code) : code;
}

function relatedTo(sower: Sower, plot: Plot, path: string, i: number): string[] {
  // Every fourth affects a second asset.
  if (path === "assets") return i % 4 === 0 ? [plot.asset(i), plot.asset(i + 1)] : [plot.asset(i)];
  if (path === "security-advisories") {
    const known = sower.world.all(path);
    return i > 1 || known.length === 0 ? [] : [known[i % known.length]!.id];
  }
  const visible = (row: Row) => sower.world.lineOf(row.folder).includes(seededId(`folder:${plot.key}`));
  const here = sower.world.all(path).filter(visible);
  return here.length === 0 ? [] : [here[i % here.length]!.id];
}

function textOf(name: string, { key, short }: Plot, { path, model }: PlainKind, i: number): string | undefined {
  if (name === "ref_id" && path === "vulnerabilities" && i === 0) return "CVE-2014-0160";
  if (name === "ref_id") return `${model.replace(/[a-z]/g, "")}-${key.charAt(0)}-${i + 1}`;
  if (name === "mission") return MISSIONS[i % MISSIONS.length];
  if (name === "email") return `${path}${i}@${key}.example`;
  if (name === "first_name") return "Robin";
  if (name === "last_name") return `${short} ${i + 1}`;
  return undefined;
}
