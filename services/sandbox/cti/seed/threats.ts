import type { Thing } from "../thing.js";
import { ADJECTIVES, ANIMALS, MALWARE_ENDINGS, MALWARE_ROOTS, TACTICS, TECHNIQUES, THEMES, TOOLS } from "./names.js";
import { SECTORS } from "./places.js";
import { range, type Source } from "./source.js";

/** What threats are told of: the phases of an attack, and whom it may hit. */
export interface Surroundings {
  readonly phases: readonly Thing[];
  readonly countries: readonly Thing[];
  /** Sectors and countries. */
  readonly victims: readonly Thing[];
}

/** Fills in techniques, tools, malware and those who use them, related to each other. */
export function seedThreats(source: Source, { phases, countries, victims }: Surroundings) {
  const { make, pick, int, chance, day } = source;
  const techniques = seedTechniques(source, phases);
  const tools = TOOLS.map((name) =>
    make("Tool", { name, description: `${name} is a dual-use tool.`, tool_types: ["exploitation"] }, { open: true }),
  );
  const vulnerabilities = range(150, (n) => {
    const score = int(30, 100) / 10;
    return make("Vulnerability", {
      name: `CVE-2026-${10000 + n}`,
      description: `A flaw in product ${n % 40}.`,
      x_opencti_cvss_base_score: score,
      x_opencti_cvss_base_severity: score >= 9 ? "CRITICAL" : score >= 7 ? "HIGH" : "MEDIUM",
      x_opencti_cisa_kev: chance(15),
      x_opencti_epss_score: int(0, 100) / 100,
    });
  });
  const malware = MALWARE_ROOTS.flatMap((root) =>
    MALWARE_ENDINGS.map((ending) =>
      make(
        "Malware",
        {
          name: `${root}${ending}`,
          aliases: chance(30) ? [`${root.toUpperCase()}.${ending.toUpperCase()}`] : [],
          description: `${root}${ending} is a ${typeOf(ending)} seen since 2025.`,
          malware_types: [typeOf(ending)],
          is_family: chance(70),
          first_seen: day(600),
        },
        { refs: { killChainPhases: [pick(phases).id] } },
      ),
    ),
  );
  const sets = range(66, (n) => {
    const name = `${ADJECTIVES[n % ADJECTIVES.length]} ${ANIMALS[(n * 7) % ANIMALS.length]}`;
    return make("Intrusion-Set", {
      name,
      aliases: [`UNC${4000 + n}`, `SET-${n}`],
      description: `${name} is a set of intrusions with shared infrastructure.`,
      first_seen: day(1500),
      last_seen: day(60),
      resource_level: pick(["government", "organization", "team"]),
      primary_motivation: pick(["organizational-gain", "ideology", "personal-gain"]),
      goals: ["collect intelligence"],
    });
  });
  const actors = range(26, (n) =>
    make("Threat-Actor-Group", {
      name: `${ANIMALS[n % ANIMALS.length]} Group ${n + 1}`,
      aliases: [`TAG-${100 + n}`],
      description: `A group tracked since 202${n % 6}.`,
      threat_actor_types: [pick(["crime-syndicate", "nation-state", "hacker"])],
      sophistication: pick(["expert", "advanced", "intermediate"]),
    }),
  );
  const persons = range(8, (n) =>
    make("Threat-Actor-Individual", {
      name: `Operator ${n + 1}`,
      aliases: [`handle_${n}`],
      description: "An individual operator.",
    }),
  );
  const campaigns = range(60, (n) =>
    make("Campaign", {
      name: `Operation ${pick(ADJECTIVES)} ${n}`,
      description: `A campaign of ${THEMES[n % THEMES.length]} ${pick(SECTORS).toLowerCase()}.`,
      first_seen: day(400),
      last_seen: day(30),
      objective: "access",
    }),
  );
  const infrastructures = range(40, (n) =>
    make("Infrastructure", {
      name: `Cluster ${n}`,
      infrastructure_types: [pick(["command-and-control", "phishing", "staging"])],
      description: "Hosts with a shared setup.",
    }),
  );
  const incidents = range(25, (n) =>
    make("Incident", {
      name: `Intrusion at site ${n}`,
      incident_type: "compromise",
      severity: pick(["low", "medium", "high"]),
      description: "Found by detection.",
    }),
  );

  const threats = { techniques, tools, vulnerabilities, malware, sets, actors, persons, campaigns, incidents };
  relateThreats(source, threats, { countries, victims });
  return { techniques, vulnerabilities, malware, sets, campaigns, infrastructures };
}

/** Techniques of the attack phases, each with a remedy. */
function seedTechniques({ make, relate, some }: Source, phases: readonly Thing[]): Thing[] {
  const techniques = TECHNIQUES.map(([x_mitre_id, name, tactic]) =>
    make(
      "Attack-Pattern",
      {
        name,
        x_mitre_id,
        description: `${name} (${tactic}).`,
        x_mitre_platforms: some(["windows", "linux", "macos"], 2),
      },
      { open: true, refs: { killChainPhases: [phases[TACTICS.indexOf(tactic)]!.id] } },
    ),
  );
  for (const technique of techniques) {
    const parent = techniques.find((one) =>
      String(technique.attributes.x_mitre_id).startsWith(`${one.attributes.x_mitre_id}.`),
    );
    if (parent !== undefined) relate(technique, "subtechnique-of", parent);
    const remedy = make(
      "Course-Of-Action",
      { name: `Limit ${technique.attributes.name}`, description: `How to limit ${technique.attributes.name}.` },
      { open: true },
    );
    relate(remedy, "mitigates", technique);
  }
  return techniques;
}

type Threat = "techniques" | "tools" | "vulnerabilities" | "malware" | "sets" | "actors" | "persons" | "campaigns";

/** Who uses what against whom. */
function relateThreats(
  { relate, pick, some, chance }: Source,
  threats: Readonly<Record<Threat | "incidents", readonly Thing[]>>,
  { countries, victims }: Omit<Surroundings, "phases">,
): void {
  const { techniques, tools, vulnerabilities, malware, sets, actors, persons, campaigns, incidents } = threats;
  for (const one of sets) {
    for (const other of some(malware, 4)) relate(one, "uses", other);
    for (const other of some(techniques, 7)) relate(one, "uses", other);
    for (const other of some(tools, 2)) relate(one, "uses", other);
    for (const other of some(victims, 4)) relate(one, "targets", other);
    if (chance(60)) relate(one, "attributed-to", pick(actors));
    if (chance(30)) relate(one, "originates-from", pick(countries));
  }
  for (const one of [...actors, ...persons]) {
    for (const other of some([...malware, ...tools], 3)) relate(one, "uses", other);
    relate(one, "targets", pick(victims));
  }
  for (const one of campaigns) {
    relate(one, "attributed-to", pick(sets));
    for (const other of some(malware, 2)) relate(one, "uses", other);
    for (const other of some(victims, 2)) relate(one, "targets", other);
  }
  for (const one of malware) {
    for (const other of some(techniques, 3)) relate(one, "uses", other);
    if (chance(40)) relate(one, "exploits", pick(vulnerabilities));
    if (chance(20)) relate(one, "variant-of", pick(malware));
  }
  for (const one of incidents) relate(one, "attributed-to", pick(sets));
}

const TYPES: Readonly<Record<string, string>> = {
  Loader: "downloader",
  Locker: "ransomware",
  RAT: "remote-access-trojan",
  Stealer: "spyware",
  Wiper: "wiper",
  Door: "backdoor",
  Bot: "bot",
  Shell: "webshell",
};
const typeOf = (ending: string): string => TYPES[ending] ?? "unknown";
