import { OBSERVABLE_KINDS } from "./observables.js";

/** The types of core relationships (the API refuses every other). */
export const RELATION_TYPES: readonly string[] = [
  "delivers",
  "targets",
  "attributed-to",
  "indicates",
  "derived-from",
  "mitigates",
  "uses",
  "related-to",
  "located-at",
  "impersonates",
  "exploits",
  "variant-of",
  "compromises",
  "controls",
  "has",
  "hosts",
  "owns",
  "authored-by",
  "beacons-to",
  "exfiltrates-to",
  "downloads",
  "drops",
  "based-on",
  "consists-of",
  "communicates-with",
  "originates-from",
  "cooperates-with",
  "participates-in",
  "publishes",
  "amplifies",
  "analysis-of",
  "static-analysis-of",
  "dynamic-analysis-of",
  "part-of",
  "employed-by",
  "citizen-of",
  "national-of",
  "resolves-to",
  "belongs-to",
  "subtechnique-of",
  "detects",
  "remediates",
  "provides",
  "should-cover",
  "known-as",
  "reports-to",
  "supports",
  "demonstrates",
  "subnarrative-of",
  "has-covered",
];

const ACTORS = ["Threat-Actor-Group", "Threat-Actor-Individual", "Intrusion-Set", "Campaign"];
const VICTIMS = [
  "Individual",
  "Organization",
  "Sector",
  "System",
  "Region",
  "Country",
  "City",
  "Administrative-Area",
  "Vulnerability",
];
const MEANS = ["Attack-Pattern", "Malware", "Tool", "Infrastructure"];
const NETWORK = ["IPv4-Addr", "IPv6-Addr", "Domain-Name", "Url", "Hostname"];
const INDICATED = [...ACTORS, "Attack-Pattern", "Malware", "Tool", "Infrastructure", "Vulnerability", "Incident"];

type Rule = readonly [from: readonly string[], type: string, to: readonly string[]];

const RULES: readonly Rule[] = [
  [ACTORS, "uses", [...MEANS, "Narrative", "Channel"]],
  [ACTORS, "targets", VICTIMS],
  [["Intrusion-Set"], "attributed-to", ["Threat-Actor-Group", "Threat-Actor-Individual"]],
  [["Campaign", "Incident"], "attributed-to", ["Intrusion-Set", "Threat-Actor-Group", "Threat-Actor-Individual"]],
  [
    ["Threat-Actor-Group", "Threat-Actor-Individual", "Intrusion-Set"],
    "cooperates-with",
    ["Threat-Actor-Group", "Threat-Actor-Individual"],
  ],
  [
    ["Threat-Actor-Group", "Threat-Actor-Individual", "Intrusion-Set", "Infrastructure", "Organization", "Individual"],
    "located-at",
    ["Region", "Country", "City", "Administrative-Area", "Position"],
  ],
  [["Intrusion-Set", "Malware"], "originates-from", ["Region", "Country", "City"]],
  [["Attack-Pattern", "Malware", "Tool", "Incident"], "targets", VICTIMS],
  [["Attack-Pattern", "Malware", "Incident"], "uses", MEANS],
  [["Attack-Pattern"], "subtechnique-of", ["Attack-Pattern"]],
  [["Malware"], "variant-of", ["Malware"]],
  [["Malware"], "exploits", ["Vulnerability"]],
  [["Malware"], "communicates-with", NETWORK],
  [["Malware"], "drops", ["Malware", "Tool", "StixFile"]],
  [["Malware", "Infrastructure"], "downloads", ["Malware", "Tool", "StixFile"]],
  [["Infrastructure"], "consists-of", [...NETWORK, "Infrastructure"]],
  [["Infrastructure"], "hosts", ["Malware", "Tool"]],
  [["Infrastructure"], "communicates-with", [...NETWORK, "Infrastructure"]],
  [["Course-Of-Action"], "mitigates", ["Attack-Pattern", "Malware", "Tool", "Vulnerability"]],
  [["Indicator"], "indicates", INDICATED],
  [["Indicator"], "based-on", ["*observable"]],
  [["Domain-Name", "Hostname"], "resolves-to", ["IPv4-Addr", "IPv6-Addr", "Domain-Name"]],
  [["IPv4-Addr", "IPv6-Addr"], "belongs-to", ["Autonomous-System"]],
  [["City", "Country", "Administrative-Area"], "located-at", ["Country", "Region", "Administrative-Area"]],
  [["Organization", "Individual", "Sector", "System"], "part-of", ["Organization", "Sector"]],
  [["Data-Component"], "detects", ["Attack-Pattern"]],
];

/** Whether the platform allows the type between two ends; related-to is allowed between any. */
export function isAllowed(
  fromType: string,
  type: string,
  toType: string,
  isObservable: (type: string) => boolean,
): boolean {
  if (type === "related-to") return true;
  const holds = (types: readonly string[], end: string) =>
    types.includes(end) || (types.includes("*observable") && isObservable(end));
  return RULES.some(([from, name, to]) => name === type && holds(from, fromType) && holds(to, toType));
}

/** The pairs as the API publishes them, each type by itself: "Malware_Vulnerability" → its types. */
export function relationMapping(): { readonly key: string; readonly values: readonly string[] }[] {
  const pairs = new Map<string, Set<string>>();
  for (const [froms, type, tos] of RULES) {
    for (const from of froms) {
      for (const to of tos.flatMap((one) =>
        one === "*observable" ? OBSERVABLE_KINDS.map((kind) => kind.type) : [one],
      )) {
        const key = `${from}_${to}`;
        pairs.set(key, (pairs.get(key) ?? new Set()).add(type));
      }
    }
  }
  return [...pairs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, values]) => ({ key, values: [...values] }));
}
