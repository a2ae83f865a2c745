import type { Values } from "../kinds/kind.js";
import { flagsOf } from "../kinds/table.js";
import { DEFAULT_TENANT, SECOND_TENANT, type World } from "../world.js";
import type { Draw } from "./draw.js";

const DAY_MS = 86_400_000;

/** What every tenant has of its own, by path. */
const OWN: Readonly<Record<string, readonly Values[]>> = {
  organizations: ["Retail banking", "Payments", "Data centre operations", "Human resources"].map((name) => ({
    organization_name: name,
    organization_description: `${name} of the group`,
    organization_tags: [],
  })),
  documents: ["rules-of-engagement.txt", "contact-list.txt", "lessons-2025.pdf"].map((name) => ({
    document_name: name,
    document_target: `stored-${name}`,
    document_description: `The file ${name}`,
    document_type: name.endsWith(".pdf") ? "application/pdf" : "text/plain",
  })),
  channels: ["The Daily Drill", "Crisis radio"].map((name) => ({
    channel_type: name.endsWith("radio") ? "microblogging" : "newspaper",
    channel_name: name,
    channel_description: "Exercise channel",
  })),
  challenges: ["Find the port", "Name the account"].map((name) => ({
    challenge_name: name,
    challenge_category: "network",
    challenge_content: `<p>${name}</p>`,
    challenge_score: 50,
    challenge_max_attempts: 3,
  })),
  lessons_templates: ["Standard review", "Short review"].map((name) => ({
    lessons_template_name: name,
    lessons_template_description: "Two questions",
  })),
  domains: [
    ["Endpoint", "#389CFF"],
    ["Network", "#009933"],
    ["Cloud", "#9933CC"],
  ].map(([domain_name = "", domain_color = ""]) => ({ domain_name, domain_color })),
  vulnerabilities: (
    [
      ["CVE-2021-44228", 10, "2021-12-10"],
      ["CVE-2021-26855", 9.8, "2021-03-02"],
      ["CVE-2023-20198", 10, "2023-10-16"],
      ["CVE-2014-0160", 7.5, "2014-04-07"],
    ] as const
  ).map(([id, score, day]) => ({
    vulnerability_external_id: id,
    vulnerability_cvss_v31: score,
    vulnerability_published: `${day}T00:00:00Z`,
    vulnerability_description: `The vulnerability ${id}`,
    vulnerability_reference_urls: [`https://cve.example/${id}`],
    vulnerability_cwes: [{ cwe_external_id: "CWE-20", cwe_source: "example" }],
  })),
};

const FLAGS = [{ flag_type: "VALUE", flag_value: "4444" }];

/** Objects of the kinds that have no table of their own; techniques are there already. */
export function seedEntries(world: World, draw: Draw, now: number): void {
  const createdAt = now - 90 * DAY_MS;
  const add = (path: string, tenant: string | undefined, values: Values, id = draw.uuid()) => {
    const entries = world.entries.get(path) ?? new Map();
    world.entries.set(path, entries.set(id, { id, tenant, values, createdAt, updatedAt: createdAt }));
  };
  for (const tenant of [DEFAULT_TENANT, SECOND_TENANT]) {
    for (const [path, rows] of Object.entries(OWN)) {
      for (const values of rows) {
        const id = draw.uuid();
        const flags = path === "challenges" ? { challenge_flags: flagsOf(FLAGS, id, createdAt) } : {};
        add(path, tenant, { ...values, ...flags }, id);
      }
    }
  }
  const techniques = [...world.techniques.values()];
  for (const phase of new Set(techniques.map((technique) => technique.phase))) {
    const phaseValues = {
      phase_external_id: phase.externalId,
      phase_name: phase.name,
      phase_shortname: phase.shortname,
      phase_kill_chain_name: "mitre-attack",
      phase_order: phase.order,
    };
    add("kill_chain_phases", undefined, phaseValues, phase.id);
  }
  for (const { id, externalId, name } of techniques.filter(({ parent }) => parent === undefined)) {
    add("mitigations", undefined, {
      mitigation_stix_id: `course-of-action--${draw.uuid()}`,
      mitigation_name: `Limit ${name}`,
      mitigation_description: `How to limit ${name}.`,
      mitigation_external_id: `M${externalId.slice(1)}`,
      mitigation_attack_patterns: [id],
    });
  }
}
