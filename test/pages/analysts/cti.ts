import { names, type Question } from "./question.js";

/** Questions of threat intelligence analysts. */
export const CTI: readonly Question[] = [
  {
    title: "Is this URL known, and which malware does it belong to?",
    calls: [
      {
        server: "cti",
        tool: "lookup_ioc",
        args: () => ({ value: "hxxps://portal-47[.]c2[.]example/p/47" }),
        keep: ["value", "known", "matches.id", "matches.score", "matches.indicators", "matches.containers"],
      },
      {
        server: "cti",
        tool: "list_entity_relationships",
        args: ([looked]) => ({ object_id: looked.matches[0].indicators[0].id, relationship_types: ["indicates"] }),
        keep: ["relationships.type", "relationships.other", "relationships.confidence", "total_size"],
      },
    ],
    inWords: ([looked, around]) =>
      `Yes. The indicator has the score **${looked.matches[0].indicators[0].score}** and points to ${names([around.relationships[0].other])}. The report ${names(looked.matches[0].containers)} contains it.`,
  },
  {
    title: "Which techniques and which malware does Jade Puffin use?",
    calls: [
      {
        server: "cti",
        tool: "find_entity_by_name",
        args: () => ({ name: "Jade Puffin" }),
        keep: ["exact", "entities.id", "entities.type", "entities.name"],
      },
      {
        server: "cti",
        tool: "list_entity_ttps",
        args: ([found]) => ({ object_id: found.entities[0].id }),
        keep: ["ttps.id", "ttps.name", "ttps.kill_chain_phases", "total_size"],
      },
      {
        server: "cti",
        tool: "list_entity_relationships",
        args: ([found]) => ({
          object_id: found.entities[0].id,
          relationship_types: ["uses"],
          other_types: ["Malware"],
        }),
        keep: ["relationships.other", "relationships.confidence", "hidden", "total_size"],
      },
    ],
    inWords: ([, { ttps, total_size }, { relationships, hidden }]) =>
      `It uses **${total_size}** techniques, among them ${names(ttps.slice(0, 3))}. Its malware is ${names(relationships.map(({ other }: { other: { name: string } }) => other))}. You have no right to see **${hidden}** more.`,
  },
  {
    title: "Which report about Jade Puffin is the newest, and what does it contain?",
    calls: [
      {
        server: "cti",
        tool: "find_entity_by_name",
        args: () => ({ name: "Jade Puffin" }),
        keep: ["exact", "entities.id", "entities.name"],
      },
      {
        server: "cti",
        tool: "list_reports",
        args: ([found]) => ({ object_id: found.entities[0].id, page_size: 3 }),
        keep: ["reports.id", "reports.name", "reports.published", "total_size"],
      },
      {
        server: "cti",
        tool: "list_container_objects",
        args: ([, { reports }]) => ({ container_id: reports[0].id, page_size: 10 }),
        keep: ["objects.id", "objects.type", "objects.name", "total_size"],
        rows: 4,
      },
    ],
    inWords: ([, { reports }, { objects, total_size }]) =>
      `The newest report is ${names([reports[0]])}. It contains **${total_size}** objects; the first are ${names(objects.slice(0, 3))}.`,
  },
  {
    title: "Open a case for the exploited vulnerabilities with a CVSS score of 7 or more.",
    calls: [
      {
        server: "cti",
        tool: "list_vulnerabilities",
        args: () => ({ kev_only: true, min_cvss: 7 }),
        keep: ["vulnerabilities.id", "vulnerabilities.name", "vulnerabilities.cvss_score", "total_size"],
        rows: 10,
      },
      {
        server: "cti",
        tool: "list_vocabulary_values",
        args: () => ({ vocabulary: "case_priority_ov" }),
        keep: ["words.name"],
        rows: 10,
      },
      {
        server: "cti",
        tool: "create_case_incident",
        args: ([{ vulnerabilities }, { words }]) => ({
          name: "Patch the exploited vulnerabilities",
          severity: "critical",
          priority: words[0].name,
          object_ids: vulnerabilities.map(({ id }: { id: string }) => id),
          refs: { markings: ["TLP:GREEN"] },
        }),
        keep: ["result.object.id", "result.object.type", "result.object.name", "object_count"],
      },
      {
        server: "cti",
        tool: "create_task",
        args: ([, , { result }]) => ({ case_id: result.object.id, name: "Find the machines that are affected" }),
        keep: ["result.object.id", "result.object.type", "result.object.name"],
      },
    ],
    inWords: ([{ vulnerabilities }, , { object_count }]) =>
      `The case contains **${object_count}** vulnerabilities, among them ${names(vulnerabilities.slice(0, 2))}, and has one task.`,
  },
];
