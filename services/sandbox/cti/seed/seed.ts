import { observableKindOf, patternOf } from "../observables.js";
import { mainOf } from "../views/names.js";
import type { World } from "../world.js";
import { seedContainers } from "./containers.js";
import { LABELS, TACTICS } from "./names.js";
import { seedObservables } from "./observables.js";
import { CITIES, COUNTRIES, REGIONS, SECTORS, VENDORS } from "./places.js";
import { createSource, later } from "./source.js";
import { seedThreats } from "./threats.js";

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

  const threats = seedThreats(source, { phases, countries, victims });
  const { techniques, vulnerabilities, malware, sets, campaigns, infrastructures } = threats;

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
  seedContainers(world.graph, source, { sets, malware, pool });
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
