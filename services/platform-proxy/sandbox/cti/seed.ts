import { mainOf } from "./names.js";
import { OBSERVABLE_KINDS, observableKindOf, patternOf } from "./observables.js";
import {
  ADJECTIVES,
  ANIMALS,
  CITIES,
  COUNTRIES,
  LABELS,
  MALWARE_ENDINGS,
  MALWARE_ROOTS,
  REGIONS,
  SECTORS,
  TACTICS,
  TECHNIQUES,
  THEMES,
  TOOLS,
  VENDORS,
} from "./seed-names.js";
import { createSource, type Source } from "./seed-source.js";
import type { Thing } from "./thing.js";
import type { World } from "./world.js";

/** Fills the platform with a few thousand linked objects; the same seed gives the same ids and texts. */
export function seedWorld(world: World, seed: number): void {
  const source = createSource(world, seed);
  const { make, relate, pick, some, int, chance, day } = source;
  const labels = LABELS.map((value) =>
    make("Label", { value, color: `#${int(0, 0xffffff).toString(16).padStart(6, "0")}` }),
  );
  source.useLabels(labels);
  const phases = TACTICS.map((phase_name, x_opencti_order) =>
    make("Kill-Chain-Phase", { kill_chain_name: "mitre-attack", phase_name, x_opencti_order }),
  );
  const vendors = VENDORS.map((name) =>
    make(
      "Organization",
      { name, description: `${name} publishes threat research.`, x_opencti_organization_type: "vendor" },
      { open: true },
    ),
  );
  source.useAuthors(vendors);
  const references = VENDORS.flatMap((name, at) =>
    [0, 1, 2].map((n) =>
      make("External-Reference", {
        source_name: name,
        url: `https://research${at}.example/reports/${n}`,
        external_id: `R-${at}-${n}`,
      }),
    ),
  );
  source.useReferences(references);

  const regions = REGIONS.map((name) => make("Region", { name }, { open: true }));
  const countries = COUNTRIES.map((name) => make("Country", { name }, { open: true }));
  const cities = CITIES.map((name) => make("City", { name }, { open: true }));
  for (const country of countries) relate(country, "located-at", pick(regions));
  for (const city of cities) relate(city, "located-at", pick(countries));
  const sectors = SECTORS.map((name) => make("Sector", { name }, { open: true }));
  const victims = [...sectors, ...countries];

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

  const observables = seedObservables(source);
  for (const one of infrastructures)
    for (const other of some(observables.network, 4)) relate(one, "consists-of", other);
  for (const one of some(malware, 80))
    for (const other of some(observables.network, 2)) relate(one, "communicates-with", other);
  for (const domain of some(observables.domains, 150)) relate(domain, "resolves-to", pick(observables.addresses));

  const indicators = some([...observables.network, ...observables.files], 420).map((observable) => {
    const kind = observableKindOf(observable.type)!;
    const from = day(300);
    const indicator = make(
      "Indicator",
      {
        name: mainOf(observable, world.graph),
        pattern: patternOf(kind, observable.attributes),
        pattern_type: "stix",
        valid_from: from,
        valid_until: later(from, int(30, 500)),
        indicator_types: ["malicious-activity"],
        x_opencti_score: int(10, 100),
        x_opencti_detection: chance(50),
        x_opencti_main_observable_type: kind.type,
        revoked: chance(15),
      },
      { refs: { markings: [...observable.refs.markings] } },
    );
    relate(indicator, "based-on", observable);
    relate(indicator, "indicates", pick(chance(70) ? malware : sets));
    return indicator;
  });
  for (const indicator of some(indicators, 40)) {
    const at = day(90);
    source.link(indicator, "stix-sighting-relationship", pick(vendors), {
      first_seen: at,
      last_seen: later(at, 3),
      attribute_count: int(1, 20),
      x_opencti_negative: false,
      description: "",
    });
  }

  const pool = [
    ...sets,
    ...malware,
    ...campaigns,
    ...techniques,
    ...vulnerabilities,
    ...observables.network,
    ...indicators,
  ];
  const hold = (count: number) => ({ refs: { objects: some(pool, count).map(({ id }) => id) } });
  const reports = range(260, (n) => {
    const set = pick(sets);
    const sector = pick(SECTORS);
    const name = `${String(set.attributes.name)}: ${pick(THEMES)} ${sector.toLowerCase()} (${n + 1})`;
    const links = world.graph.relationsOf(set.id).slice(0, int(2, 8));
    const ends = links.map(({ ends }) => (ends!.from === set.id ? ends!.to : ends!.from));
    const objects = [
      ...new Set([set.id, ...links.map(({ id }) => id), ...ends, ...some(pool, int(3, 14)).map(({ id }) => id)]),
    ];
    return make(
      "Report",
      {
        name,
        published: day(500),
        description: `What is known of ${String(set.attributes.name)} in the ${sector.toLowerCase()} sector.`,
        report_types: [pick(["threat-report", "internal-report"])],
        ...(chance(40) && { content: `<h1>${name}</h1><p>Summary of findings.</p>` }),
      },
      { refs: { objects } },
    );
  });
  range(20, (n) =>
    make(
      "Grouping",
      { name: `Grouping ${n}`, context: "suspicious-activity", description: "Related findings." },
      hold(6),
    ),
  );
  const cases = range(24, (n) =>
    make(
      "Case-Incident",
      {
        name: `Incident response ${n}`,
        severity: pick(["low", "medium", "high", "critical"]),
        priority: pick(["P1", "P2", "P3"]),
        description: "Response in progress.",
        response_types: ["ransomware"],
      },
      hold(5),
    ),
  );
  range(12, (n) =>
    make(
      "Case-Rfi",
      { name: `Request for information ${n}`, severity: "low", priority: "P3", description: "Asked by a customer." },
      hold(3),
    ),
  );
  range(6, (n) => make("Case-Rft", { name: `Request for takedown ${n}`, severity: "medium", priority: "P2" }, hold(2)));
  range(4, (n) => make("Feedback", { name: `Feedback ${n}`, rating: 4 }, hold(1)));
  range(30, (n) =>
    make(
      "Task",
      { name: `Task ${n}`, description: "To be done.", due_date: later(day(10), 40) },
      { refs: { objects: [pick(cases).id] } },
    ),
  );
  range(140, (n) =>
    make(
      "Note",
      { attribute_abstract: `Note ${n}`, content: `Analyst's note ${n}: seen again.`, note_types: ["analysis"] },
      { refs: { objects: [pick([...sets, ...malware, ...reports]).id] } },
    ),
  );
  range(10, () =>
    make("Opinion", { opinion: pick(["agree", "neutral", "disagree"]), explanation: "Own telemetry." }, hold(1)),
  );
  range(5, (n) =>
    make("Observed-Data", { first_observed: day(50), last_observed: day(5), number_observed: n + 1 }, hold(2)),
  );
  for (const [type, attributes] of SINGLES) make(type, { ...attributes }, { open: true });
}

/** Kinds that are there once, so that every list has a row. */
const SINGLES: readonly (readonly [string, Record<string, unknown>])[] = [
  ["Individual", { name: "Jo Example", description: "An analyst." }],
  ["System", { name: "Mail gateway" }],
  ["SecurityPlatform", { name: "Endpoint protection", security_platform_type: "EDR" }],
  ["Administrative-Area", { name: "Flanders" }],
  ["Position", { name: "Harbour", latitude: 51.2, longitude: 4.4 }],
  ["Malware-Analysis", { product: "sandbox", result_name: "Analysis 1", result: "malicious" }],
  ["Channel", { name: "Forum channel", channel_types: ["forum"] }],
  ["Event", { name: "Trade fair", event_types: ["conference"] }],
  ["Narrative", { name: "A narrative", narrative_types: ["influence"] }],
  ["Language", { name: "French" }],
  ["Data-Component", { name: "Process Creation" }],
  ["Data-Source", { name: "Process" }],
  ["Security-Coverage", { name: "Coverage 1", objectCovered: "", auto_enrichment_disable: true }],
];

function seedObservables({ make, int, chance, pick, hex }: Source) {
  const scored = () => ({
    x_opencti_score: int(0, 100),
    ...(chance(30) && { x_opencti_description: "Seen in traffic." }),
  });
  const words = ["mail", "cdn", "update", "login", "static", "api", "files", "portal"];
  const addresses = range(360, (n) =>
    make("IPv4-Addr", { value: n < 250 ? `198.51.100.${n + 1}` : `203.0.113.${n - 249}`, ...scored() }),
  );
  range(40, (n) => make("IPv6-Addr", { value: `2001:db8::${(n + 1).toString(16)}`, ...scored() }));
  const domains = range(380, (n) =>
    make("Domain-Name", { value: `${words[n % words.length]}-${n}.c2.example`, ...scored() }),
  );
  const urls = range(240, (n) =>
    make("Url", { value: `https://${words[n % words.length]}-${n}.c2.example/p/${n}`, ...scored() }),
  );
  const files = range(240, (n) =>
    make("StixFile", {
      name: `sample-${n}.bin`,
      size: int(1_000, 900_000),
      hashes: [
        { algorithm: "MD5", hash: hex(32) },
        { algorithm: "SHA-1", hash: hex(40) },
        { algorithm: "SHA-256", hash: hex(64) },
      ],
      ...scored(),
    }),
  );
  range(60, (n) => make("Email-Addr", { value: `sender${n}@mail-${n % 8}.example`, ...scored() }));
  const done = ["IPv4-Addr", "IPv6-Addr", "Domain-Name", "Url", "StixFile", "Email-Addr"];
  for (const kind of OBSERVABLE_KINDS.filter(({ type }) => !done.includes(type))) {
    const [main = "value"] = kind.main;
    const value = kind.attributes[main]?.startsWith("Int")
      ? 443
      : main === "hashes"
        ? [{ algorithm: "SHA-256", hash: hex(64) }]
        : `${kind.stix}-${pick(words)}`;
    make(
      kind.type,
      { [main]: value, ...(kind.type === "Mac-Addr" && { value: "02:00:5e:00:53:01" }), ...scored() },
      { open: true },
    );
  }
  return { addresses, domains, files, network: [...addresses, ...domains, ...urls] as Thing[] };
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
const range = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const later = (date: string, days: number): string => new Date(Date.parse(date) + days * 86400e3).toISOString();
